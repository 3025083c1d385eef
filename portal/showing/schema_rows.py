"""A JSON Schema as the rows of a table, whatever a stranger wrote in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from portal.showing.texts import json_text
from registry.packages.tools import Tool

MOST_ROWS = 100
_TEXT = 300
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern")


@dataclass(frozen=True)
class InputRow:
    name: str
    type: str
    required: bool
    description: str
    default: str  # as JSON; "" where none is given
    choices: tuple[str, ...]
    bounds: tuple[tuple[str, str], ...]
    schema: str  # of nested values, as JSON


def input_rows(schema: Mapping[str, Any] | None) -> list[InputRow]:
    """One row a property, in the author's order."""
    properties = (schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = (schema or {}).get("required")
    names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    items = list(properties.items())[:MOST_ROWS]
    return [_row(str(name), rule if isinstance(rule, Mapping) else {}, name in names) for name, rule in items]


@dataclass(frozen=True)
class ToolRows:
    name: str
    description: str
    rows: list[InputRow]


def tool_rows(tools: Iterable[Tool]) -> list[ToolRows]:
    """Each tool with its parameters."""
    return [ToolRows(tool.name, tool.description, input_rows(tool.schema)) for tool in tools]


def _row(name: str, rule: Mapping[str, Any], required: bool) -> InputRow:
    choices = rule.get("enum")
    nested = any(key in rule for key in ("properties", "items", "anyOf", "oneOf", "allOf"))
    return InputRow(
        name=name,
        type=_type(rule),
        required=required,
        description=str(rule.get("description") or rule.get("title") or "")[:2000],
        default=_short(rule["default"]) if "default" in rule else "",
        choices=tuple(_short(choice) for choice in choices[:50]) if isinstance(choices, list) else (),
        bounds=tuple((key, _short(rule[key])) for key in _BOUNDS if key in rule),
        schema=json_text(rule)[:4000] if nested else "",
    )


def _type(rule: Mapping[str, Any]) -> str:
    kind = rule.get("type", "any")
    text = " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    items = rule.get("items")
    if text == "array" and isinstance(items, Mapping) and isinstance(items.get("type"), str):
        text = f"array of {items['type']}"
    return f"{text} ({rule['format']})"[:_TEXT] if isinstance(rule.get("format"), str) else text[:_TEXT]


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:_TEXT]
