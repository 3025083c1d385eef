"""The front matter fields of a version, known and unknown, as a page lists them."""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from registry.packages.package import Manifest

_ALWAYS = ("protocol", "requires_filesystem")  # shown even with the default value
_OMITTED = ("slug", "extra")  # the page's URL contains the slug; ``extra`` has the unknown fields
_GROUPS = ("triggers", "security", "resources")
_MAX_CHARACTERS = 2_000
_DEFAULTS = Manifest("", "", "", "")
_NAMES = [field.name for field in fields(Manifest) if field.name not in _OMITTED]
_NAMES_OF_GROUP = {group: [each.name for each in fields(getattr(_DEFAULTS, group))] for group in _GROUPS}


def manifest_fields(manifest: Manifest) -> list[dict[str, Any]]:
    """The fields that differ from their defaults and those in ``_ALWAYS``; unknown fields come last."""
    known = _non_default_fields(manifest)
    return [
        *({"name": name, "value": _text(value), "known": True} for name, value in known),
        *({"name": name, "value": _text(value), "known": False} for name, value in manifest.extra.items()),
    ]


def _non_default_fields(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    for name in _NAMES:
        value, default = getattr(manifest, name), getattr(_DEFAULTS, name)
        if value == default and name not in _ALWAYS:
            continue
        if name in _GROUPS:
            pairs = ((inner, getattr(value, inner)) for inner in _NAMES_OF_GROUP[name])
            yield from ((f"{name}.{inner}", own) for inner, own in pairs if own != getattr(default, inner))
        else:
            yield name, value


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
