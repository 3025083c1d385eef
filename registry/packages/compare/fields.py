"""Compares two manifests field by field."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.packages.package import Manifest, Resources, Security, Triggers

_COMPARED_SEPARATELY = (
    "version",
    "version_as_written",
    "input_schema",
    "output_schema",
)


@dataclass(frozen=True)
class FieldChange:
    """A changed field, with values as text or JSON. ``added`` and ``removed`` are set for lists."""

    name: str  # "security.timeout_ms"
    before: str
    after: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def compare_fields(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """The changed fields in the order of the manifest. Excludes the version and the schemas."""
    return tuple(_changes(before, after, ""))


def _changes(before: Any, after: Any, prefix: str) -> Iterator[FieldChange]:
    for field in dataclasses.fields(before):
        old, new, name = getattr(before, field.name), getattr(after, field.name), prefix + field.name
        if old == new or name in _COMPARED_SEPARATELY:
            continue
        if isinstance(old, (Triggers, Security, Resources)):
            yield from _changes(old, new, f"{name}.")
        elif isinstance(old, tuple):
            yield _list_change(name, old, new)
        else:
            yield FieldChange(name, display_value(old), display_value(new))


def _list_change(name: str, old: tuple[str, ...], new: tuple[str, ...]) -> FieldChange:
    added = tuple(item for item in new if item not in old)
    removed = tuple(item for item in old if item not in new)
    return FieldChange(name, ", ".join(old), ", ".join(new), added, removed)


def display_value(value: Any) -> str:
    """The value for display: text unchanged, other values as JSON, "" for None, ``{}`` and ``()``."""
    if value in (None, "", {}, ()):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
