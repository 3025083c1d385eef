"""Fields that the open format has no place for, carried as texts below ``metadata``, and brought back.

``metadata: {skillquay-type: direct, skillquay-tags: '["a"]'}`` is read as ``type: direct`` and ``tags: [a]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from registry.packages.limits import Limits
from registry.packages.problems import Refused
from registry.packages.yaml_reading import Place, YamlReader
from registry.packages.yaml_writing import json_text

PREFIX = "skillquay-"
_CODED = re.compile(r"[\[{\"].*|true|false|null|-?[0-9].*", re.DOTALL)
_FITTED = frozenset({"name", "description", "compatibility", "allowed-tools"})  # made to fit at the top
Values = Mapping[str, Any]
Lines = Mapping[Place, int]


def as_text(value: Any) -> str:
    """The text itself, or JSON for everything else and for texts that would be taken for JSON."""
    if isinstance(value, str) and not _CODED.fullmatch(value):
        return value
    return json_text(value)


def restored(values: Values, lines: Lines, limits: Limits) -> tuple[Values, Lines]:
    """The fields as if they stood at the top, where the top does not say them itself."""
    metadata = values.get("metadata")
    if not isinstance(metadata, dict) or not any(key.startswith(PREFIX) for key in metadata):
        return values, lines
    kept = {key: value for key, value in metadata.items() if not key.startswith(PREFIX)}
    found = {
        key.removeprefix(PREFIX): _value(text, limits)
        for key, text in metadata.items()
        if key.startswith(PREFIX) and key != PREFIX
    }
    more = found.pop("metadata", None)
    whole = _FITTED & found.keys()
    top = {key: value for key, value in values.items() if key != "metadata" and key not in whole}
    back = {**found, **top}
    if kept or more is not None:
        back["metadata"] = {**kept, **more} if isinstance(more, dict) else kept or more
    return back, {**{(key,): lines[("metadata", PREFIX + key)] for key in found}, **lines}


def _value(text: Any, limits: Limits) -> Any:
    if not isinstance(text, str) or not _CODED.fullmatch(text):
        return text
    try:
        return YamlReader(limits).read(text)
    except Refused:
        return text
