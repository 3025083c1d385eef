"""Which script of a package is run, and how it is spoken to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.package import Manifest, Profile
from registry.packages.problems import refuse
from worker.protocols.call import Protocol, Request
from worker.sandbox.runtimes import argv_prefix

SCRIPTS = "scripts"
EXTENSIONS = (".py", ".sh", ".js", ".mjs", ".cjs", ".ts")  # the order in which an id is looked up
_MODULES = (".ts", ".js", ".mjs", ".cjs", ".py")  # what can export execute()
_DEFAULTS = ("execute.ts", "execute.js", "execute.py", "main.ts", "index.ts")
_AGENT_SKILLS = ".claude/skills"  # document B's layout


@dataclass(frozen=True)
class Entry:
    """A script that can be run: ``id`` is its file's stem, ``runtime`` the program that runs it."""

    id: str
    path: str

    @property
    def runtime(self) -> str:
        return argv_prefix(self.path)[0]

    @property
    def is_module(self) -> bool:
        return PurePosixPath(self.path).suffix in _MODULES


def entries_of(paths: Iterable[str], manifest: Manifest, profile: Profile) -> tuple[Entry, ...]:
    """Every script, by id, one for each: files right below scripts/, and the declared entry."""
    found: dict[str, Entry] = {}
    known = set(paths)
    declared = manifest.resources.entry
    if declared in known and declared.startswith(f"{SCRIPTS}/") and argv_prefix(declared):
        found[PurePosixPath(declared).stem] = Entry(PurePosixPath(declared).stem, declared)
    for path in sorted(known, key=_order):
        if _is_entry(path, profile) and path not in manifest.resources.helpers:
            stem = PurePosixPath(path).stem
            found.setdefault(stem, Entry(stem, path))
    return tuple(sorted(found.values(), key=lambda entry: entry.id))


def choose(paths: Iterable[str], manifest: Manifest, profile: Profile, request: Request) -> Entry:
    """The entry that the request and the manifest mean; refuses where that is none or several."""
    found = entries_of(paths, manifest, profile)
    by_id = {entry.id: entry for entry in found}
    ids = ", ".join(by_id)
    if not found:
        raise refuse("STATIC_SKILL" if manifest.type == "static" else "PROMPT_ONLY")
    if request.script is not None:
        if request.script not in by_id:
            raise refuse("SCRIPT_NOT_FOUND", path="script", script=ascii(request.script[:80]), ids=ids)
        return by_id[request.script]
    if default := default_of(found, manifest) or by_id.get(request.tool or ""):
        return default
    if manifest.resources.entry:
        raise refuse(
            "ENTRY_NOT_FOUND", path=manifest.resources.entry, entry=manifest.resources.entry, ids=ids
        )
    raise refuse("ENTRY_REQUIRED", path="script", ids=ids)


def default_of(found: tuple[Entry, ...], manifest: Manifest) -> Entry | None:
    """What runs when no script is named: the declared entry, a conventional name, the only script."""
    if manifest.resources.entry:
        return next((entry for entry in found if entry.path == manifest.resources.entry), None)
    for name in _DEFAULTS:
        if default := next((entry for entry in found if entry.path == f"{SCRIPTS}/{name}"), None):
            return default
    return found[0] if len(found) == 1 else None


def protocol_of(entry: Entry, manifest: Manifest, profile: Profile, request: Request) -> Protocol:
    """How the entry is spoken to (REQUIREMENTS, "How a script is spoken to")."""
    if request.tool is not None or speaks_abp(manifest):
        return "abp"
    named_execute = PurePosixPath(entry.path).stem == "execute"
    if entry.is_module and (named_execute or profile == "apexbridge"):
        return "execute"
    if profile == "single-file" or request.action is not None:
        return "stdin_json"
    return "script"


def refuse_unavailable(manifest: Manifest, request: Request) -> None:
    """What cannot be run whatever the scripts are: two choices at once, static skills."""
    others = ("action",) if speaks_abp(manifest) else ("script", "action")
    named = [name for name in others if getattr(request, name) is not None]
    if request.tool is not None and named:
        raise refuse("CHOICE_AMBIGUOUS", path="tool", first=named[0], second="tool")
    if manifest.type == "static":
        raise refuse("STATIC_SKILL")


def speaks_abp(manifest: Manifest) -> bool:
    return manifest.protocol == "abp" or manifest.abp is not None


def _order(path: str) -> tuple[int, str]:
    suffix = PurePosixPath(path).suffix
    return EXTENSIONS.index(suffix) if suffix in EXTENSIONS else len(EXTENSIONS), path


def _is_entry(path: str, profile: Profile) -> bool:
    pure = PurePosixPath(path)
    folder = "" if str(pure.parent) == "." else str(pure.parent)
    if pure.suffix not in EXTENSIONS or pure.name.startswith((".", "_")) or pure.name.endswith(".d.ts"):
        return False
    if profile == "single-file" and pure.suffix == ".py":
        return folder in (SCRIPTS, _AGENT_SKILLS) or folder.endswith(f"/{_AGENT_SKILLS}")
    return folder == SCRIPTS
