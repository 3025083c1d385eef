"""Builds the argument vector of a call from chosen values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.packages.command_lines.command_line import CommandLevel, CommandLine, Library, Parameter

_OPTIONS_FIRST: tuple[Library, ...] = ("getopts",)


def build_arguments(
    command_line: CommandLine, values: Mapping[str, Any], commands: Sequence[str] = ()
) -> list[Any]:
    """The argument vector of a call, for a command line of kind ``fields``. Raises KeyError
    for an unknown subcommand.

    ``values`` maps parameter ids to values; ``commands`` are the names of the chosen subcommands. Parameters
    without a value, or with None, are omitted. The values are:

    - a switch: True, or False for its negative flag; a counted switch: a number
    - a parameter with many values: a list; if it is also repeated, a list of lists
    - an option with an optional value: the value, or True for the flag alone
    - a file: a mapping such as ``{"input": "…"}``, which becomes one word
    """
    words: list[Any] = []
    levels = command_line.levels(tuple(commands))
    for position, level in enumerate(levels):
        words += [level.name] if position else []
        words += _level_words(level, values, command_line.library)
    return words


def _level_words(level: CommandLevel, values: Mapping[str, Any], library: Library) -> list[Any]:
    options: list[Any] = []
    positionals: list[Any] = []
    has_remainder = False
    chosen = [each for each in level.parameters if values.get(each.id) is not None]
    for parameter in sorted(chosen, key=lambda each: each.max_values is not None):
        if parameter.flags:  # those without limit first: otherwise they take a positional as their value
            options += _option_words(parameter, values[parameter.id])
    for parameter in chosen:
        if not parameter.flags:
            has_remainder |= parameter.remainder
            positionals += (
                _as_list(values[parameter.id]) if parameter.has_many_values else [values[parameter.id]]
            )
    return _joined(options, list(map(_word, positionals)), library=library, has_remainder=has_remainder)


def _joined(
    options: list[Any], positionals: list[Any], *, library: Library, has_remainder: bool
) -> list[Any]:
    """The words of one level in an order that the parser understands.

    Positionals usually go first, because an option with many values would otherwise consume them. Positionals
    that start with "-" follow a "--".
    """
    if has_remainder:
        return [*options, *positionals]
    if any(isinstance(word, str) and word.startswith("-") and word != "-" for word in positionals):
        return [*options, "--", *positionals]
    return [*options, *positionals] if library in _OPTIONS_FIRST else [*positionals, *options]


def _option_words(parameter: Parameter, value: Any) -> list[Any]:
    if parameter.is_switch:
        return _switch_words(parameter, value)
    occurrences = _as_list(value) if parameter.repeated else [value]
    return [word for each in occurrences for word in _occurrence_words(parameter, each)]


def _switch_words(parameter: Parameter, value: Any) -> list[Any]:
    if parameter.repeated:
        return [_flag(parameter.flags)] * int(value)
    if value is False:
        return [_flag(parameter.negative_flags)] if parameter.negative_flags else []
    return [_flag(parameter.flags)]


def _occurrence_words(parameter: Parameter, value: Any) -> list[Any]:
    flag = _flag(parameter.flags)
    is_single = parameter.max_values == 1
    given = [value] if is_single else _as_list(value)
    if is_single and parameter.min_values == 0 and value is True:
        return [flag]
    words = list(map(_word, given))
    if len(words) == 1 and isinstance(words[0], str) and words[0].startswith("-"):
        # a separate word would be read as an option
        return [f"{flag}={words[0]}" if _is_long(flag) else f"{flag}{words[0]}"]
    return [flag, *words]


def _flag(flags: tuple[str, ...]) -> str:
    """The flag that is clearest to a reader and accepts ``=``: the first long one, otherwise the first."""
    return next((each for each in flags if each.startswith("--")), flags[0])


def _is_long(flag: str) -> bool:
    return flag.startswith("--") or len(flag) > 2


def _as_list(value: Any) -> list[Any]:
    return list(_each(value))


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from value
    else:
        yield value


def _word(value: Any) -> Any:
    """One word of the call. A file stays a mapping; every other value becomes text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, Mapping) else str(value)
