"""Two manifests field by field: what was said before, what is said now, what joined or left a list."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.packages.package import Manifest, Resources, Security, Triggers

_ELSEWHERE = ("version", "version_as_written", "input_schema", "output_schema")  # told on their own


@dataclass(frozen=True)
class FieldChange:
    """``gained`` and ``lost`` are a list's; other values are told whole, as text or JSON."""

    name: str  # "security.timeout_ms"
    before: str
    after: str
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def compare_fields(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """In the order of the manifest; schemas are compared apart."""
    return tuple(_changes(before, after, ""))


def _changes(before: Any, after: Any, prefix: str) -> Iterator[FieldChange]:
    for field in dataclasses.fields(before):
        old, new, name = getattr(before, field.name), getattr(after, field.name), prefix + field.name
        if old == new or name in _ELSEWHERE:
            continue
        if isinstance(old, (Triggers, Security, Resources)):
            yield from _changes(old, new, f"{name}.")
        elif isinstance(old, tuple):
            yield _list_change(name, old, new)
        else:
            yield FieldChange(name, told(old), told(new))


def _list_change(name: str, old: tuple[str, ...], new: tuple[str, ...]) -> FieldChange:
    gained = tuple(item for item in new if item not in old)
    lost = tuple(item for item in old if item not in new)
    return FieldChange(name, ", ".join(old), ", ".join(new), gained, lost)


def told(value: Any) -> str:
    """A value as its reader expects it: text as it is, the rest as JSON, "" where nothing is said."""
    if value in (None, "", {}, ()):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
