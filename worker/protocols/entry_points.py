"""Lists the entry points of a package: scripts, actions, tools and phases, or only a prompt."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from registry.packages.manifest.sections import Phase, find_phases, find_specs
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


@dataclass(frozen=True)
class Script:
    """A script. ``protocol`` applies to calls without action or tool; ``phases`` are the phase files that
    list the script.
    """

    id: str
    path: str
    runtime: str
    protocol: Protocol
    phases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """An action that the package declares, or a common name that is only suggested.

    ``scripts`` are the ids of the scripts in which a declared action was found.
    """

    name: str
    declared: bool
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of a package.

    ``default`` is the id of the script that runs if none is named, or "". ``execute`` is True if that script
    uses protocol ``execute``. ``unavailable`` is the error code of every call, or "" if calls are possible.
    """

    scripts: tuple[Script, ...] = ()
    actions: tuple[Action, ...] = ()
    tools: tuple[Tool, ...] = ()
    phases: tuple[Phase, ...] = ()
    omitted_phases: int = 0  # phase files that were not read
    specs: tuple[str, ...] = ()  # documentation in specs/
    default: str = ""
    execute: bool = False
    prompt_only: bool = False
    unavailable: str = ""
    prompt: Protocol | None = None  # for calls without script, action or tool


def find_entry_points(
    package_paths: Iterable[str], manifest: Manifest, profile: Profile, read: Callable[[str], bytes]
) -> EntryPoints:
    """Finds the entry points of a package; ``read`` returns the bytes of one of its files."""
    paths = tuple(package_paths)
    entries = () if manifest.type == "static" else find_entries(paths, manifest, profile, read)
    phases, omitted_phases = find_phases(paths, read)
    scripts = tuple(_script(entry, manifest, profile, phases) for entry in entries)
    entry = default_entry(entries, manifest)
    default = entry.id if entry else ""
    has_endpoint = uses_endpoint(manifest, Request())
    prompt = prompt_protocol(paths, manifest, profile, read)
    return EntryPoints(
        scripts=scripts,
        actions=_actions(entries, scripts, manifest, read),
        tools=tools_of(manifest.abp) if uses_abp(manifest) else (),
        phases=phases,
        omitted_phases=omitted_phases,
        specs=find_specs(paths),
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
    """Declared actions, then common ones if a script declares an action or uses protocol ``stdin_json``."""
    named: dict[str, list[str]] = {}
    for entry, script in zip(entries, scripts, strict=True):
        if script.protocol not in ("execute", "abp"):
            for name in actions.find_actions(read(entry.path), manifest):
                named.setdefault(name, []).append(entry.id)
    declared = tuple(Action(name, True, tuple(ids)) for name, ids in named.items())
    if not any(script.protocol == "stdin_json" for script in scripts) and not declared:
        return ()
    return declared + tuple(Action(name, False) for name in actions.CONVENTIONAL if name not in named)
