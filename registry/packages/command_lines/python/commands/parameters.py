"""Builds the parameters of commands from the settings that a script declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.packages.command_lines.command_line import (
    MAX_CHOICES,
    MAX_TEXT,
    FileUse,
    Parameter,
    ValueType,
)
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.python.argparse_parameters import text_of

_TYPES: dict[str, ValueType] = {
    "int": "integer",
    "float": "number",
    "INT": "integer",
    "FLOAT": "number",
    "IntRange": "integer",
    "FloatRange": "number",
}


@dataclass(frozen=True)
class ValueKind:
    name: str = ""  # "" without a type
    choices: tuple[str, ...] = ()
    file: FileUse = ""  # of Path and File
    is_folder: bool = False


def build_parameter(name: str, settings: Mapping[str, Any], kind: ValueKind, **values: Any) -> Parameter:
    default, metavar = settings.get("default"), text_of(settings.get("metavar"))
    guessed = type(default).__name__ if type(default) in (int, float) else ""
    is_switch = values.get("max_values") == 0
    value_type = "text" if is_switch else _TYPES.get(kind.name or guessed, "text")
    is_path = not (is_switch or kind.choices or kind.is_folder) and value_type == "text"
    items = default if isinstance(default, list | tuple) else [default]
    is_known = len(items) <= MAX_CHOICES and all(_is_short(each) for each in items)
    return Parameter(
        id=name,
        name=name,
        type=value_type,
        choices=kind.choices,
        default=(tuple(default) if isinstance(default, list | tuple) else default) if is_known else None,
        default_computed=not is_known,
        file=(kind.file or file_use(name, metavar)) if is_path else "",
        hidden=bool(settings.get("hidden")),
        help=text_of(settings.get("help")),
        metavar=metavar,
        **values,
    )


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float | None) or (isinstance(value, str) and len(value) <= MAX_TEXT)
