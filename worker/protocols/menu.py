"""What a package offers to press: scripts, actions, tools, phases, and whether it is a prompt alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from registry.packages.package import Manifest, Profile
from registry.packages.problems import Refused
from registry.packages.sections import declared_scripts
from registry.packages.tools import Tool, tools_of
from worker.protocols import actions
from worker.protocols.call import Protocol, Request
from worker.protocols.entries import (
    Entry,
    default_of,
    entries_of,
    protocol_of,
    refuse_unavailable,
    speaks_abp,
)
from worker.protocols.prompting import prompt_protocol
from worker.protocols.served import is_served

_READ_BYTES = 262_144
_PHASE_FOLDERS = {"phases", "actions"}


@dataclass(frozen=True)
class Script:
    """``protocol`` is how it is spoken to without an action; ``phases`` are the files that declare it."""

    id: str
    path: str
    runtime: str
    protocol: Protocol
    phases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """``declared``: the package names it; else it is one of the five conventional ones, a suggestion."""

    name: str
    declared: bool
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declaration:
    """A script's id on one line of a phase file; ``missing`` when there is no such script."""

    id: str
    line: int
    missing: bool


@dataclass(frozen=True)
class Phase:
    path: str
    scripts: tuple[Declaration, ...]


@dataclass(frozen=True)
class Menu:
    """``default`` runs when no script is named, "" where one must be; ``execute``: it exports execute().

    ``unavailable`` is the code with which every call is refused, "" where something can be run.
    """

    scripts: tuple[Script, ...] = ()
    actions: tuple[Action, ...] = ()
    tools: tuple[Tool, ...] = ()
    phases: tuple[Phase, ...] = ()
    default: str = ""
    execute: bool = False
    prompt_only: bool = False
    unavailable: str = ""
    served: bool = False  # by endpoints, unless a script or an action is named
    prompt: Protocol | None = None  # how a call is answered that names nothing, where its prompt answers


def menu(
    package_paths: Iterable[str], manifest: Manifest, profile: Profile, read: Callable[[str], bytes]
) -> Menu:
    """Reads the package's scripts and phase files, each up to 256 kB."""
    paths = tuple(package_paths)
    found = () if manifest.type == "static" else entries_of(paths, manifest, profile)
    phases = tuple(_phases(paths, {entry.id for entry in found}, read))
    scripts = tuple(_script(entry, manifest, profile, phases) for entry in found)
    entry = default_of(found, manifest)
    default = entry.id if entry else ""
    served = is_served(manifest, Request())
    asked = prompt_protocol(paths, manifest, profile)
    return Menu(
        scripts=scripts,
        actions=_actions(found, scripts, manifest, read),
        tools=tools_of(manifest.abp) if speaks_abp(manifest) else (),
        phases=phases,
        default=default,
        execute=any(script.protocol == "execute" and script.id == default for script in scripts),
        prompt_only=not found and not served and not speaks_abp(manifest),
        unavailable=_unavailable(found, manifest, prompt=asked is not None or served),
        served=served,
        prompt=asked,
    )


def _unavailable(found: tuple[Entry, ...], manifest: Manifest, *, prompt: bool) -> str:
    try:
        refuse_unavailable(manifest, Request())
    except Refused as refused:
        return refused.code
    if speaks_abp(manifest) and found and not tools_of(manifest.abp):
        return "TOOLS_UNDECLARED"
    return "" if found or prompt else "PROMPT_ONLY"


def _script(entry: Entry, manifest: Manifest, profile: Profile, phases: tuple[Phase, ...]) -> Script:
    within = tuple(phase.path for phase in phases if any(one.id == entry.id for one in phase.scripts))
    return Script(
        entry.id, entry.path, entry.runtime, protocol_of(entry, manifest, profile, Request()), within
    )


def _actions(
    found: tuple[Entry, ...], scripts: tuple[Script, ...], manifest: Manifest, read: Callable[[str], bytes]
) -> tuple[Action, ...]:
    """Declared ones first; the conventional ones where a script could be called with an action."""
    named: dict[str, list[str]] = {}
    for entry, script in zip(found, scripts, strict=True):
        if script.protocol not in ("execute", "abp"):
            for name in actions.declared(read(entry.path), manifest):
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
            declared = tuple(Declaration(id, line, id not in ids) for id, line in declared_scripts(text))
            yield Phase(path, declared)
