"""The types for a script's needs besides the files of its package, and their JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Ecosystem = Literal["python", "node", "deno"]


@dataclass(frozen=True)
class ModuleNeed:
    """An imported module that is neither part of the language nor a file of the package.

    ``required`` is False for imports in functions and those whose failure the script handles.
    ``distribution`` is the package to install, or "" if unknown, because another project can own the module's
    name. ``declared`` modules belong to a dependency that the package declares.
    """

    name: str
    ecosystem: Ecosystem = "python"
    required: bool = True
    distribution: str = ""
    declared: bool = False


@dataclass(frozen=True)
class ScriptNeeds:
    """The needs of one script. ``programs`` are all commands that it calls; ``first_programs`` are those that
    it always calls.
    """

    path: str
    modules: tuple[ModuleNeed, ...] = ()
    programs: tuple[str, ...] = ()
    first_programs: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    complete: bool = True  # False if a limit or a syntax error ended the reading

    def __bool__(self) -> bool:
        return bool(self.modules or self.programs or self.hosts or self.keys)


def merge_modules(modules: Iterable[ModuleNeed]) -> tuple[ModuleNeed, ...]:
    """The sorted modules, one per name and ecosystem. A module is required if one of its originals is."""
    merged: dict[tuple[str, str], ModuleNeed] = {}
    for each in modules:
        key = (each.ecosystem, each.name)
        merged[key] = replace(each, required=each.required or (key in merged and merged[key].required))
    return tuple(merged[key] for key in sorted(merged))


def to_document(needs: ScriptNeeds) -> dict[str, Any]:
    return asdict(needs)


def from_document(document: Mapping[str, Any]) -> ScriptNeeds:
    return ScriptNeeds(
        path=document["path"],
        modules=tuple(ModuleNeed(**each) for each in document["modules"]),
        programs=tuple(document["programs"]),
        first_programs=tuple(document["first_programs"]),
        hosts=tuple(document["hosts"]),
        keys=tuple(document["keys"]),
        complete=document["complete"],
    )
