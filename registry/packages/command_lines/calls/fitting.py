"""Decides whether a shown call fits the parameters that a script declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from registry.packages.command_lines.calls.read_arguments import ArgumentValues, read_arguments
from registry.packages.command_lines.command_line import CommandLevel, CommandLine, Parameter

_PLACEHOLDER = re.compile(r"[<${\[].*|.*[<$*…].*|[A-Z][A-Z0-9_]+", re.DOTALL)
_NUMBERS = {
    "integer": re.compile(r"[+-]?\d[\d_]*"),
    "number": re.compile(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE),
}


def fits(command_line: CommandLine, words: Sequence[str]) -> bool:
    """Whether the parser accepts the words, as far as the parser could be read.

    Always true for a script without a parser and for one whose parser was not read completely. The value of a
    placeholder is not checked.
    """
    if command_line.gaps or command_line.kind == "line":
        return True
    if command_line.kind == "none":
        return not words or not command_line.library
    expanded = _without_abbreviations(command_line, words)
    read = read_arguments(command_line, expanded, last_wins=True)
    return read is not None and _is_valid(command_line, read)


def _is_valid(command_line: CommandLine, read: ArgumentValues) -> bool:
    levels = command_line.levels(read.commands)
    if levels[-1].subcommand_required and levels[-1].subcommands:
        return False
    return all(_level_is_valid(level, read) for level in levels)


def _level_is_valid(level: CommandLevel, read: ArgumentValues) -> bool:
    for group in level.groups:
        given = sum(each in read.values for each in group.ids)
        if given > 1 or (group.required and not given):
            return False
    grouped = {each for group in level.groups for each in group.ids}
    return all(
        _is_accepted(parameter, read.values[parameter.id])
        if parameter.id in read.values
        else not parameter.required or parameter.id in grouped
        for parameter in level.parameters
    )


def _is_accepted(parameter: Parameter, value: Any) -> bool:
    if parameter.is_switch or value is True:
        return True
    texts = [text for text in _texts(value) if not _PLACEHOLDER.fullmatch(text)]
    if parameter.choices:
        return all(text in parameter.choices for text in texts)
    number = _NUMBERS.get(parameter.type)
    return number is None or all(number.fullmatch(text) for text in texts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    else:
        yield str(value)


def _without_abbreviations(command_line: CommandLine, words: Sequence[str]) -> list[str]:
    """The words with abbreviated long flags in full, because argparse accepts unambiguous abbreviations."""
    if command_line.library != "argparse":
        return list(words)
    level, expanded = command_line.root, []
    for word in words:
        level = level.subcommand(word) or level
        flag, equals, value = word.partition("=")
        if flag.startswith("--") and len(flag) > 2:
            known = {each for p in level.parameters for each in (*p.flags, *p.negative_flags)}
            longer = [each for each in known if each.startswith(flag)]
            flag = longer[0] if flag not in known and len(longer) == 1 else flag
        expanded.append(f"{flag}{equals}{value}")
    return expanded
