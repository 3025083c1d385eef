"""Lists the entry points of a package: scripts, actions, tools and phases, or only a prompt."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.manifest.sections import find_declared_scripts
from registry.packages.manifest.tools import Tool, tools_of
from registry.packages.package import Manifest, Profile
from registry.packages.problems import Refusal
from worker.protocols import actions
from worker.protocols.call import Protocol, Request
from worker.protocols.entries import (
    ScriptEntry,
    choose_protocol,
    default_entry,
    find_entries,
    refuse_unavailable,
    uses_abp,
)
from worker.protocols.errors import PROMPT_ONLY, TOOLS_UNDECLARED
from worker.protocols.formats.endpoint import uses_endpoint
from worker.protocols.prompts.prompt_call import prompt_protocol

_READ_BYTES = 262_144
_PHASE_FOLDERS = {"phases", "actions"}


@dataclass(frozen=True)
class Script:
    """A script; ``protocol`` applies if the call names no action, ``phases`` are files that name it."""

    id: str
    path: str
    runtime: str
    protocol: Protocol
    phases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """An action; ``declared`` by the package, or suggested as one of five common names."""

    name: str
    declared: bool
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhaseScript:
    """A script's id on one line of a phase file; ``missing`` is True if the script does not exist."""

    id: str
    line: int
    missing: bool


@dataclass(frozen=True)
class Phase:
    path: str
    scripts: tuple[PhaseScript, ...]


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of a package.

    ``default`` is the id of the script that runs if none is named ("" if one must be); ``execute`` tells
    whether it exports execute(). ``unavailable`` is the error code of every call, "" if calls are possible.
    """

    scripts: tuple[Script, ...] = ()
    actions: tuple[Action, ...] = ()
    tools: tuple[Tool, ...] = ()
    phases: tuple[Phase, ...] = ()
    default: str = ""
    execute: bool = False
    prompt_only: bool = False
    unavailable: str = ""
    prompt: Protocol | None = None  # for a call that names nothing, if the prompt answers it


def find_entry_points(
    package_paths: Iterable[str], manifest: Manifest, profile: Profile, read: Callable[[str], bytes]
) -> EntryPoints:
    """Finds the entry points; reads scripts and phase files, each up to 256 kB."""
    paths = tuple(package_paths)
    entries = () if manifest.type == "static" else find_entries(paths, manifest, profile)
    phases = tuple(_phases(paths, {entry.id for entry in entries}, read))
    scripts = tuple(_script(entry, manifest, profile, phases) for entry in entries)
    entry = default_entry(entries, manifest)
    default = entry.id if entry else ""
    has_endpoint = uses_endpoint(manifest, Request())
    prompt = prompt_protocol(paths, manifest, profile)
    return EntryPoints(
        scripts=scripts,
        actions=_actions(entries, scripts, manifest, read),
        tools=tools_of(manifest.abp) if uses_abp(manifest) else (),
        phases=phases,
        default=default,
        execute=any(script.protocol == "execute" and script.id == default for script in scripts),
        prompt_only=not entries and not has_endpoint and not uses_abp(manifest),
        unavailable=_unavailable(
            entries, manifest, callable_without_script=prompt is not None or has_endpoint
        ),
        prompt=prompt,
    )


def _unavailable(
    entries: tuple[ScriptEntry, ...], manifest: Manifest, *, callable_without_script: bool
) -> str:
    try:
        refuse_unavailable(manifest, Request())
    except Refusal as error:
        return error.code
    if uses_abp(manifest) and entries and not tools_of(manifest.abp):
        return TOOLS_UNDECLARED.name
    return "" if entries or callable_without_script else PROMPT_ONLY.name


def _script(entry: ScriptEntry, manifest: Manifest, profile: Profile, phases: tuple[Phase, ...]) -> Script:
    within = tuple(phase.path for phase in phases if any(one.id == entry.id for one in phase.scripts))
    return Script(
        entry.id, entry.path, entry.runtime, choose_protocol(entry, manifest, profile, Request()), within
    )


def _actions(
    entries: tuple[ScriptEntry, ...],
    scripts: tuple[Script, ...],
    manifest: Manifest,
    read: Callable[[str], bytes],
) -> tuple[Action, ...]:
    """Declared actions, then common ones if a script can be called with an action."""
    named: dict[str, list[str]] = {}
    for entry, script in zip(entries, scripts, strict=True):
        if script.protocol not in ("execute", "abp"):
            for name in actions.find_actions(read(entry.path), manifest):
                named.setdefault(name, []).append(entry.id)
    declared = tuple(Action(name, True, tuple(ids)) for name, ids in named.items())
    if not any(script.protocol == "stdin_json" for script in scripts) and not declared:
        return ()
    return declared + tuple(Action(name, False) for name in actions.CONVENTIONAL if name not in named)


def _phases(paths: tuple[str, ...], ids: set[str], read: Callable[[str], bytes]) -> Iterator[Phase]:
    for path in sorted(paths):
        pure = PurePosixPath(path)
        if pure.parts[0] in _PHASE_FOLDERS and pure.suffix == ".md":
            text = read(path)[:_READ_BYTES].decode("utf-8-sig", "replace")
            declared = tuple(PhaseScript(id, line, id not in ids) for id, line in find_declared_scripts(text))
            yield Phase(path, declared)
