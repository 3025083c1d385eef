"""Converts command lines to JSON documents and back. A document omits the fields with default values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from registry.packages.command_lines.command_line import (
    CommandLevel,
    CommandLine,
    ExclusiveGroup,
    Parameter,
    ReadingGap,
)

Part = CommandLine | CommandLevel | ExclusiveGroup | Parameter | ReadingGap
_NESTED: dict[str, type[Part]] = {
    "root": CommandLevel,
    "parameters": Parameter,
    "groups": ExclusiveGroup,
    "subcommands": CommandLevel,
    "gaps": ReadingGap,
}


def to_document(part: Part) -> dict[str, Any]:
    """The command line, or a part of it, as a JSON object with lists for tuples."""
    values = {each.name: (getattr(part, each.name), each.default) for each in fields(part)}
    return {
        name: _to_json(value)
        for name, (value, default) in values.items()
        if default is MISSING or value != default
    }


def from_document(document: Mapping[str, Any]) -> CommandLine:
    """The command line of a document; unknown fields are ignored, so that later versions can add some."""
    return _read(CommandLine, document)  # type: ignore[return-value]


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    return to_document(value) if isinstance(value, Part) else value


def _read(kind: type[Part], document: Mapping[str, Any]) -> Part:
    known = {each.name for each in fields(kind)}
    return kind(**{name: _from_json(name, value) for name, value in document.items() if name in known})


def _from_json(name: str, value: Any) -> Any:
    if name in _NESTED:
        nested = _NESTED[name]
        return _read(nested, value) if isinstance(value, Mapping) else tuple(_read(nested, e) for e in value)
    return tuple(value) if isinstance(value, list) else value
