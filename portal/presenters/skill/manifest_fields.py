"""The front matter fields of a version, known and unknown, as a page lists them."""

import json
from collections.abc import Iterator
from typing import Any

from registry.packages.manifest.manifest import manifest_document
from registry.packages.package import Manifest

_ALWAYS = ("protocol", "requires_filesystem")  # shown even with the default value
_HIDDEN = ("slug",)  # omitted, because the page's URL contains it
_GROUPS = ("triggers", "security", "resources")
_MAX_CHARACTERS = 2_000
_DEFAULTS = manifest_document(Manifest("", "", "", ""))


def manifest_fields(manifest: Manifest) -> list[dict[str, Any]]:
    """The fields that differ from their defaults and those in ``_ALWAYS``; unknown fields come last."""
    document = manifest_document(manifest)
    extra = document.pop("extra")
    known = _non_default_fields(document)
    return [
        *({"name": name, "value": _text(value), "known": True} for name, value in known),
        *({"name": name, "value": _text(value), "known": False} for name, value in extra.items()),
    ]


def _non_default_fields(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if name in _GROUPS:
            rows = ((f"{name}.{inner}", each) for inner, each in value.items())
            yield from ((label, each) for label, each in rows if each != _default(label))
        elif name not in _HIDDEN and (name in _ALWAYS or value != _DEFAULTS[name]):
            yield name, value


def _default(label: str) -> Any:
    group, _dot, name = label.partition(".")
    return _DEFAULTS[group][name]


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
