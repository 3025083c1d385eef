"""Builds the commands of a JavaScript script, and converts option texts to parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from registry.packages.command_lines.command_line import (
    MAX_CHOICES,
    MAX_PARAMETERS,
    MAX_TEXT,
    CommandLevel,
    GapReason,
    Parameter,
    ReadingGap,
    ValueType,
)
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.javascript.values import Reference

_FLAG = re.compile(r"-{1,2}[^\s,|<\[=]+")
_VALUE = re.compile(r"([<\[])([^>\]]{1,100})[>\]]")
_TYPES: dict[str, ValueType] = {"parseInt": "integer", "parseFloat": "number", "Number": "number"}


@dataclass(eq=False)
class CommandBuilder:
    """A command under construction with its parameters. ``level`` adds the names of
    subcommands to their ids.
    """

    name: str = ""
    aliases: list[str] = field(default_factory=list)
    description: str = ""
    usage: str = ""
    parameters: list[Parameter] = field(default_factory=list)
    subcommands: list[CommandBuilder] = field(default_factory=list)
    subcommand_required: bool = False
    accepts_unknown: bool = False

    def add(self, parameter: Parameter) -> None:
        """Adds the parameter, or replaces an earlier one with the same name and flags. Ignores a new
        parameter if the command already has ``MAX_PARAMETERS``.
        """
        is_same = [each.name == parameter.name and each.flags == parameter.flags for each in self.parameters]
        if any(is_same):
            self.parameters[is_same.index(True)] = parameter
        elif len(self.parameters) < MAX_PARAMETERS:
            self.parameters.append(parameter)

    def change(self, name: str, **changes: Any) -> None:
        """Changes the fields of the parameter with this name, if it exists."""
        self.parameters = [replace(e, **changes) if e.name == name else e for e in self.parameters]

    def level(self, commands: tuple[str, ...] = ()) -> CommandLevel:
        """The finished command; ids start with the names of the subcommands."""
        seen: dict[str, int] = {}
        parameters = []
        for each in self.parameters:
            seen[each.name] = seen.get(each.name, 0) + 1
            suffix = "" if seen[each.name] == 1 else f"-{seen[each.name]}"
            parameters.append(replace(each, id="/".join((*commands, f"{each.name}{suffix}"))))
        return CommandLevel(
            name=commands[-1] if commands else "",
            aliases=tuple(self.aliases),
            help=self.description,
            parameters=tuple(parameters),
            subcommands=tuple(each.level((*commands, each.name)) for each in self.subcommands),
            subcommand_required=self.subcommand_required and bool(self.subcommands),
            accepts_unknown=self.accepts_unknown,
        )


@dataclass(eq=False)
class Gaps:
    """The parts of a script that could not be read, with their lines. Keeps the first 20."""

    lines: list[str]
    found: list[ReadingGap] = field(default_factory=list)

    def add(self, reason: GapReason, line: int) -> None:
        text = self.lines[line - 1].strip()[:120] if 0 < line <= len(self.lines) else ""
        gap = ReadingGap(reason, line, text)
        if gap not in self.found and len(self.found) < 20:
            self.found.append(gap)


def option_of(text: str) -> Parameter | None:
    """The option that a text such as ``-o, --output <file>`` declares; None if the text has no flag."""
    value = _VALUE.search(text)
    flags = tuple(_FLAG.findall(text[: value.start()] if value else text))
    if not flags:
        return None
    longest = next((flag for flag in flags if flag.startswith("--")), flags[0])
    name = camel_case(longest.lstrip("-").removeprefix("no-"))
    if value is None:
        return Parameter(name, name, flags, min_values=0, max_values=0)
    word = value[2]
    is_list = word.endswith("...")
    return Parameter(
        name,
        name,
        flags,
        min_values=0 if value[1] == "[" else 1,
        max_values=None if is_list else 1,
        metavar=word.removesuffix("..."),
        file=file_use(name, word),
    )


def positional_of(text: str, *, dots: tuple[str, ...] = ("...", "..")) -> Parameter:
    """The positional argument that a text such as ``<file>`` or ``[names...]`` declares. Required unless
    the text starts with "[".
    """
    inner = text.strip().strip("<>[]")
    is_list = inner.endswith(dots)
    name = (inner.rstrip(".").partition("|")[0].strip() or "arguments")[:100]
    is_required = not text.strip().startswith("[")
    return Parameter(
        camel_case(name),
        camel_case(name),
        min_values=int(is_required),
        max_values=None if is_list else 1,
        required=is_required,
        metavar=name,
        file=file_use(name),
    )


def camel_case(name: str) -> str:
    first, *others = name[:100].split("-")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def value_type(converter: Any) -> ValueType:
    return (
        _TYPES.get(converter.name.rpartition(".")[2], "text") if isinstance(converter, Reference) else "text"
    )


def text_for_people(value: Any) -> str:
    return " ".join(value.split())[:MAX_TEXT] if isinstance(value, str) else ""


def default_fields(value: Any) -> dict[str, Any]:
    """The parameter's fields ``default`` and ``default_computed`` for this value, as far as they are set."""
    if value is None:
        return {}
    if isinstance(value, str | int | float):
        is_short = not isinstance(value, str) or len(value) <= MAX_TEXT
        return {"default": value} if is_short else {"default_computed": True}
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return {"default": tuple(value[:MAX_CHOICES])}
    return {"default_computed": True}


def choices_of(value: Any) -> tuple[str, ...] | None:
    """The choices as texts; None if they are not known or more than ``MAX_CHOICES``."""
    if not isinstance(value, list) or len(value) > MAX_CHOICES:
        return None
    return tuple(map(str, value)) if all(isinstance(each, str | int | float) for each in value) else None
