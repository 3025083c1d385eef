"""Presents an untrusted JSON Schema as table rows."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from portal.presenters.content.text import json_text
from registry.packages.manifest.tools import Tool

MAX_ROWS = 100
_MAX_TEXT = 300
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern")


def input_rows(schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """A row for each of the first ``MAX_ROWS`` properties, in the schema's order."""
    properties = (schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = (schema or {}).get("required")
    names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    items = list(properties.items())[:MAX_ROWS]
    return [_row(str(name), rule if isinstance(rule, Mapping) else {}, name in names) for name, rule in items]


def tool_rows(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Each tool with name, description and ``rows``, one per parameter."""
    return [
        {"name": tool.name, "description": tool.description, "rows": input_rows(tool.schema)}
        for tool in tools
    ]


def _row(name: str, rule: Mapping[str, Any], required: bool) -> dict[str, Any]:
    """A table row for one property.

    ``default`` is JSON, "" if absent. ``schema`` is the JSON of a nested schema, "" for other properties.
    """
    choices = rule.get("enum")
    nested = any(key in rule for key in ("properties", "items", "anyOf", "oneOf", "allOf"))
    return {
        "name": name,
        "type": _type(rule),
        "required": required,
        "description": str(rule.get("description") or rule.get("title") or "")[:2000],
        "default": _short(rule["default"]) if "default" in rule else "",
        "choices": [_short(choice) for choice in choices[:50]] if isinstance(choices, list) else (),
        "bounds": [(key, _short(rule[key])) for key in _BOUNDS if key in rule],
        "schema": json_text(rule)[:4000] if nested else "",
    }


def _type(rule: Mapping[str, Any]) -> str:
    kind = rule.get("type", "any")
    text = " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    items = rule.get("items")
    if text == "array" and isinstance(items, Mapping) and isinstance(items.get("type"), str):
        text = f"array of {items['type']}"
    return (
        f"{text} ({rule['format']})"[:_MAX_TEXT] if isinstance(rule.get("format"), str) else text[:_MAX_TEXT]
    )


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:_MAX_TEXT]
