"""Chooses which script of a package runs, and by which protocol."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.command_lines.main_part import has_main_part, shown_commands
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import Manifest, Package, Profile
from worker.protocols import errors
from worker.protocols.call import Protocol, Request
from worker.sandbox.runtimes import command_for

SCRIPTS = "scripts"
# If scripts have the same id, the first of these runs.
EXTENSIONS = (".py", ".sh", ".js", ".mjs", ".cjs", ".ts")
_MODULES = (".ts", ".js", ".mjs", ".cjs", ".py")  # file types that can export execute()
_DEFAULTS = ("execute.ts", "execute.js", "execute.py", "main.ts", "index.ts")
Read = Callable[[str], bytes]
_AGENT_SKILLS = ".claude/skills"  # the layout of Claude Code skills


@dataclass(frozen=True)
class ScriptEntry:
    """A script that can run: ``id`` is its file's stem or its path, ``runtime`` the program that runs it."""

    id: str
    path: str

    @property
    def runtime(self) -> str:
        return command_for(self.path)[0]

    @property
    def is_module(self) -> bool:
        return PurePosixPath(self.path).suffix in _MODULES


def find_entries(
    paths: Iterable[str], manifest: Manifest, profile: Profile, read: Read
) -> tuple[ScriptEntry, ...]:
    """The offered scripts: those directly in scripts/, then programs elsewhere; both parts are sorted by id.

    The id of a script directly in scripts/ is its stem; the id of any other script is its path. A script that
    is called with arguments but has no main part is omitted. The profile ``agentskills`` also offers programs
    deeper in scripts/. All profiles except ``apexbridge`` also offer files outside scripts/ that SKILL.md
    shows as commands.
    """
    return tuple(_offered(tuple(paths), manifest, profile, read))


def entries_of(package: Package) -> tuple[ScriptEntry, ...]:
    """The scripts that a package offers; none for a static skill."""
    if package.manifest.type == "static":
        return ()
    files = {file.path: file.data for file in package.files}
    return find_entries(package.paths, package.manifest, package.profile, files.__getitem__)


def callable_scripts(package: Package) -> dict[str, str]:
    """The paths of the offered scripts that take command-line arguments, by id."""
    return {
        entry.id: entry.path
        for entry in entries_of(package)
        if choose_protocol(entry, package.manifest, package.profile, Request()) == "script"
    }


def runnable_paths(package: Package) -> list[str]:
    """The paths of all offered scripts, regardless of their protocol."""
    return [entry.path for entry in entries_of(package)]


def has_entries(paths: Iterable[str], manifest: Manifest, profile: Profile, read: Read) -> bool:
    return any(True for _entry in _offered(tuple(paths), manifest, profile, read))


def choose_entry(
    paths: Iterable[str], manifest: Manifest, profile: Profile, request: Request, read: Read
) -> ScriptEntry:
    """The script that the request and the manifest select; a request can also name a path below scripts/.

    Raises STATIC_SKILL or PROMPT_ONLY if the package has no scripts, and ENTRY_REQUIRED if several scripts
    are possible. Raises SCRIPT_NOT_FOUND if the requested script is missing, and ENTRY_NOT_FOUND if the
    declared one is.
    """
    paths = tuple(paths)
    if request.script is not None and (named := _named_entry(request.script, paths, manifest, profile)):
        return named
    entries = find_entries(paths, manifest, profile, read)
    by_id = {entry.id: entry for entry in entries}
    ids = tuple(by_id)
    if request.script in by_id:
        return by_id[request.script]
    if request.script is not None and (entries or direct_entries(paths, manifest, profile)):
        raise errors.SCRIPT_NOT_FOUND.refusal(script=ascii(request.script[:80]), ids=ids or "-").at("script")
    if not entries:
        raise (errors.STATIC_SKILL if manifest.type == "static" else errors.PROMPT_ONLY).refusal()
    if default := default_entry(entries, manifest) or by_id.get(request.tool or ""):
        return default
    if manifest.resources.entry:
        raise errors.ENTRY_NOT_FOUND.refusal(entry=manifest.resources.entry, ids=ids).at(
            manifest.resources.entry
        )
    raise errors.ENTRY_REQUIRED.refusal(ids=ids).at("script")


def default_entry(entries: tuple[ScriptEntry, ...], manifest: Manifest) -> ScriptEntry | None:
    """The script that runs by default: the declared entry, one with a conventional name, or the only script.

    The only script is the only one directly in scripts/, otherwise the only one elsewhere. None if the
    declared entry is not in ``entries``, or if no rule selects a script.
    """
    if manifest.resources.entry:
        return next((entry for entry in entries if entry.path == manifest.resources.entry), None)
    for name in _DEFAULTS:
        if default := next((entry for entry in entries if entry.path == f"{SCRIPTS}/{name}"), None):
            return default
    candidates = [entry for entry in entries if entry.id != entry.path] or entries
    return candidates[0] if len(candidates) == 1 else None


def _named_entry(
    name: str, paths: tuple[str, ...], manifest: Manifest, profile: Profile
) -> ScriptEntry | None:
    """The script directly in scripts/ with this id, or the file below scripts/ with this path or module."""
    path = f"{name.replace('.', '/')}.py" if name.startswith(f"{SCRIPTS}.") else name
    direct = direct_entries(paths, manifest, profile)
    if found := next((entry for entry in direct if name == entry.id or path == entry.path), None):
        return found
    is_script = path.startswith(f"{SCRIPTS}/") and path in paths and command_for(path)
    return ScriptEntry(path, path) if is_script else None


def _offered(
    paths: tuple[str, ...], manifest: Manifest, profile: Profile, read: Read
) -> Iterator[ScriptEntry]:
    direct = direct_entries(paths, manifest, profile)
    for entry in direct:
        if _is_offered(entry, manifest, profile, read):
            yield entry
    known = {entry.path for entry in direct}
    for path in _other_programs(paths, profile, read):
        if path not in known and path not in manifest.resources.helpers:
            entry = ScriptEntry(path, path)
            if _is_offered(entry, manifest, profile, read):
                yield entry


def _is_offered(entry: ScriptEntry, manifest: Manifest, profile: Profile, read: Read) -> bool:
    if entry.path == manifest.resources.entry or profile != "agentskills":
        return True
    if choose_protocol(entry, manifest, profile, Request()) != "script":
        return True
    return has_main_part(PurePosixPath(entry.path).suffix, read(entry.path))


def _other_programs(paths: tuple[str, ...], profile: Profile, read: Read) -> list[str]:
    if profile == "apexbridge":
        return []
    code = [path for path in paths if path.endswith(EXTENSIONS) and not _is_private(path)]
    elsewhere = frozenset(path for path in code if not path.startswith(f"{SCRIPTS}/"))
    shown = shown_commands(read(SKILL_MD), elsewhere) if elsewhere and SKILL_MD in paths else ()
    nested = [path for path in code if path.startswith(f"{SCRIPTS}/") and path.count("/") > 1]
    return sorted([*(nested if profile == "agentskills" else ()), *shown])


def _is_private(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith((".", "_")) or name.endswith(".d.ts")


def direct_entries(paths: tuple[str, ...], manifest: Manifest, profile: Profile) -> tuple[ScriptEntry, ...]:
    """The package's scripts, one per id and sorted by id.

    Scripts are files directly in scripts/, and Python files in .claude/skills of single-file packages.
    Helpers, type declarations and names that start with "." or "_" are omitted. Of scripts with the same id,
    the declared entry is taken, otherwise the first in the order of EXTENSIONS.
    """
    entries: dict[str, ScriptEntry] = {}
    known = set(paths)
    declared = manifest.resources.entry
    if declared in known and declared.startswith(f"{SCRIPTS}/") and command_for(declared):
        entries[PurePosixPath(declared).stem] = ScriptEntry(PurePosixPath(declared).stem, declared)
    for path in sorted((path for path in known if _is_entry(path, profile)), key=_order):
        if path not in manifest.resources.helpers:
            stem = PurePosixPath(path).stem
            entries.setdefault(stem, ScriptEntry(stem, path))
    return tuple(sorted(entries.values(), key=lambda entry: entry.id))


def choose_protocol(entry: ScriptEntry, manifest: Manifest, profile: Profile, request: Request) -> Protocol:
    """The protocol for calling the script; depends on its file name, manifest, profile and request."""
    if request.tool is not None or uses_abp(manifest):
        return "abp"
    named_execute = PurePosixPath(entry.path).stem == "execute"
    if entry.is_module and (named_execute or profile == "apexbridge"):
        return "execute"
    if profile == "single-file" or request.action is not None:
        return "stdin_json"
    return "script"


def execute_modules(
    manifest: Manifest, profile: Profile, entries: tuple[ScriptEntry, ...]
) -> Iterator[ScriptEntry]:
    """The modules whose ``execute`` a run calls: the default entry point, and files with that name.

    Other modules of an ApexBridge package may be libraries.
    """
    default = default_entry(entries, manifest)
    for entry in entries:
        is_called = entry == default or entry.id == "execute"
        if is_called and choose_protocol(entry, manifest, profile, Request()) == "execute":
            yield entry


def refuse_unavailable(manifest: Manifest, request: Request) -> None:
    """Raises CHOICE_AMBIGUOUS if a tool is combined with another choice, and STATIC_SKILL for a static skill.

    In a package of protocol ``abp``, a tool can be combined with a script.
    """
    others = ("action",) if uses_abp(manifest) else ("script", "action")
    named = [name for name in others if getattr(request, name) is not None]
    if request.tool is not None and named:
        raise errors.CHOICE_AMBIGUOUS.refusal(first=named[0], second="tool").at("tool")
    if manifest.type == "static":
        raise errors.STATIC_SKILL.refusal()


def uses_abp(manifest: Manifest) -> bool:
    return manifest.protocol == "abp" or manifest.abp is not None


def _order(path: str) -> tuple[int, str]:
    suffix = PurePosixPath(path).suffix
    return EXTENSIONS.index(suffix) if suffix in EXTENSIONS else len(EXTENSIONS), path


def _is_entry(path: str, profile: Profile) -> bool:
    if not path.endswith(EXTENSIONS):
        return False  # fast path for the common case: a path object takes ten times as long
    pure = PurePosixPath(path)
    folder = "" if str(pure.parent) == "." else str(pure.parent)
    if pure.suffix not in EXTENSIONS or pure.name.startswith((".", "_")) or pure.name.endswith(".d.ts"):
        return False
    if profile == "single-file" and pure.suffix == ".py":
        return folder in (SCRIPTS, _AGENT_SKILLS) or folder.endswith(f"/{_AGENT_SKILLS}")
    return folder == SCRIPTS
