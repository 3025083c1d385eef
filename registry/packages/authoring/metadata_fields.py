"""Converts fields to texts that a portable package stores under ``metadata``, and restores them.

``metadata: {skillquay-type: direct, skillquay-tags: '["a"]'}`` is read as ``type: direct`` and ``tags: [a]``.
"""

import re
from collections.abc import Mapping
from typing import Any

from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import KeyPath, YamlReader
from registry.packages.manifest.yaml_writer import json_text
from registry.packages.problems import Refusal

PREFIX = "skillquay-"
_CODED = re.compile(r"[\[{\"].*|true|false|null|-?[0-9].*", re.DOTALL)
_SHORTENED = frozenset(
    {"name", "description", "compatibility", "allowed-tools"}
)  # their top-level values are shortened
Values = Mapping[str, Any]
Lines = Mapping[KeyPath, int]


def as_text(value: Any) -> str:
    """The value as text. Values that are not text become JSON, and so do texts that look like JSON."""
    if isinstance(value, str) and not _CODED.fullmatch(value):
        return value
    return json_text(value)


def restore_fields(values: Values, lines: Lines, limits: Limits) -> tuple[Values, Lines]:
    """The values and lines, with the fields stored under ``metadata`` moved to the top level.

    Existing top-level fields have precedence. Only those in ``_SHORTENED`` are replaced, because
    ``make_portable`` may have shortened them.
    """
    metadata = values.get("metadata")
    if not isinstance(metadata, dict) or not any(key.startswith(PREFIX) for key in metadata):
        return values, lines
    own = {key: value for key, value in metadata.items() if not key.startswith(PREFIX)}
    carried = {
        key.removeprefix(PREFIX): _value(text, limits)
        for key, text in metadata.items()
        if key.startswith(PREFIX) and key != PREFIX
    }
    carried_metadata = carried.pop("metadata", None)
    full_texts = _SHORTENED & carried.keys()
    top = {key: value for key, value in values.items() if key != "metadata" and key not in full_texts}
    restored = {**carried, **top}
    if own or carried_metadata is not None:
        restored["metadata"] = (
            {**own, **carried_metadata} if isinstance(carried_metadata, dict) else own or carried_metadata
        )
    return restored, {**{(key,): lines[("metadata", PREFIX + key)] for key in carried}, **lines}


def _value(text: Any, limits: Limits) -> Any:
    if not isinstance(text, str) or not _CODED.fullmatch(text):
        return text
    try:
        return YamlReader(limits).read(text)
    except Refusal:
        return text
