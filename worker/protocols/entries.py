"""Chooses which script of a package runs, and by which protocol."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.package import Manifest, Profile
from worker.protocols import errors
from worker.protocols.call import Protocol, Request
from worker.sandbox.runtimes import command_for

SCRIPTS = "scripts"
EXTENSIONS = (".py", ".sh", ".js", ".mjs", ".cjs", ".ts")  # in the order in which ids are looked up
_MODULES = (".ts", ".js", ".mjs", ".cjs", ".py")  # file types that can export execute()
_DEFAULTS = ("execute.ts", "execute.js", "execute.py", "main.ts", "index.ts")
_AGENT_SKILLS = ".claude/skills"  # the layout of Claude Code skills


@dataclass(frozen=True)
class ScriptEntry:
    """A script that can run: ``id`` is its file's stem, ``runtime`` the program that runs it."""

    id: str
    path: str

    @property
    def runtime(self) -> str:
        return command_for(self.path)[0]

    @property
    def is_module(self) -> bool:
        return PurePosixPath(self.path).suffix in _MODULES


def find_entries(paths: Iterable[str], manifest: Manifest, profile: Profile) -> tuple[ScriptEntry, ...]:
    """Scripts sorted by id, one per id: the declared entry, and files in scripts/ or .claude/skills."""
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


def choose_entry(paths: Iterable[str], manifest: Manifest, profile: Profile, request: Request) -> ScriptEntry:
    """The script that request and manifest select; raises Refusal if none or several match."""
    entries = find_entries(paths, manifest, profile)
    by_id = {entry.id: entry for entry in entries}
    ids = ", ".join(by_id)
    if not entries:
        raise (errors.STATIC_SKILL if manifest.type == "static" else errors.PROMPT_ONLY).refusal()
    if request.script is not None:
        if request.script not in by_id:
            raise errors.SCRIPT_NOT_FOUND.refusal(script=ascii(request.script[:80]), ids=ids).at("script")
        return by_id[request.script]
    if default := default_entry(entries, manifest) or by_id.get(request.tool or ""):
        return default
    if manifest.resources.entry:
        raise errors.ENTRY_NOT_FOUND.refusal(entry=manifest.resources.entry, ids=ids).at(
            manifest.resources.entry
        )
    raise errors.ENTRY_REQUIRED.refusal(ids=ids).at("script")


def default_entry(entries: tuple[ScriptEntry, ...], manifest: Manifest) -> ScriptEntry | None:
    """The script that runs unless one is named: the declared entry, a conventional name, or the only one."""
    if manifest.resources.entry:
        return next((entry for entry in entries if entry.path == manifest.resources.entry), None)
    for name in _DEFAULTS:
        if default := next((entry for entry in entries if entry.path == f"{SCRIPTS}/{name}"), None):
            return default
    return entries[0] if len(entries) == 1 else None


def choose_protocol(entry: ScriptEntry, manifest: Manifest, profile: Profile, request: Request) -> Protocol:
    """The protocol for calling the entry, from its name, the package's profile and the request."""
    if request.tool is not None or uses_abp(manifest):
        return "abp"
    named_execute = PurePosixPath(entry.path).stem == "execute"
    if entry.is_module and (named_execute or profile == "apexbridge"):
        return "execute"
    if profile == "single-file" or request.action is not None:
        return "stdin_json"
    return "script"


def refuse_unavailable(manifest: Manifest, request: Request) -> None:
    """Raises Refusal for requests that no script can serve: two choices at once, or a static skill."""
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
        return False  # the common case: a path object takes ten times as long
    pure = PurePosixPath(path)
    folder = "" if str(pure.parent) == "." else str(pure.parent)
    if pure.suffix not in EXTENSIONS or pure.name.startswith((".", "_")) or pure.name.endswith(".d.ts"):
        return False
    if profile == "single-file" and pure.suffix == ".py":
        return folder in (SCRIPTS, _AGENT_SKILLS) or folder.endswith(f"/{_AGENT_SKILLS}")
    return folder == SCRIPTS
