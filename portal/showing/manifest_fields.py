"""Each field of a version's front matter, as a page lists them: what the author said, known or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.packages.manifest import manifest_document
from registry.packages.package import Manifest

_ALWAYS = ("protocol", "requires_filesystem")  # what holds where nothing is said is of interest, too
_ELSEWHERE = ("slug",)  # it is the address
_GROUPS = ("triggers", "security", "resources")
_LONGEST = 2_000  # characters
_DEFAULTS = manifest_document(Manifest("", "", "", ""))


@dataclass(frozen=True)
class Field:
    name: str
    value: str
    known: bool = True  # False: nothing here reads it, it is only kept


def manifest_fields(manifest: Manifest) -> list[Field]:
    """Those that differ from what holds without them; the unknown ones last."""
    document = manifest_document(manifest)
    extra = document.pop("extra")
    known = (Field(name, _text(value)) for name, value in _said(document))
    return [*known, *(Field(name, _text(value), known=False) for name, value in extra.items())]


def _said(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if name in _GROUPS:
            rows = ((f"{name}.{inner}", each) for inner, each in value.items())
            yield from ((label, each) for label, each in rows if each != _default(label))
        elif name not in _ELSEWHERE and (name in _ALWAYS or value != _DEFAULTS[name]):
            yield name, value


def _default(label: str) -> Any:
    group, _dot, name = label.partition(".")
    return _DEFAULTS[group][name]


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
