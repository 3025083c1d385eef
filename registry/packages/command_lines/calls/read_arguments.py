"""Reads the values from an argument vector, the reverse of ``build_arguments``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.packages.command_lines.command_line import CommandLevel, CommandLine, Parameter

_NUMBER = re.compile(r"-\d+(\.\d*)?|-\.\d+")


@dataclass(frozen=True)
class ArgumentValues:
    """The chosen subcommands and the values by parameter id, as ``build_arguments`` takes them."""

    commands: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def read_arguments(
    command_line: CommandLine, words: Sequence[Any], *, last_wins: bool = False
) -> ArgumentValues | None:
    """The values in the words; None if the words contain an option or argument that the command line lacks.

    Does not check types, choices and missing arguments. A word can be a mapping, which is a file. If an
    option that is not repeatable occurs twice, ``last_wins`` selects the last value; without it, returns
    None.
    """
    reader = _Reader(command_line.root, list(words), last_wins=last_wins)
    try:
        reader.read()
    except _NoMatch:
        return None
    return ArgumentValues(tuple(reader.commands), reader.values)


class _NoMatch(Exception):
    pass


class _Reader:
    def __init__(self, root: CommandLevel, words: list[Any], *, last_wins: bool) -> None:
        self.level, self.words, self.position = root, words, 0
        self.last_wins = last_wins
        self.commands: list[str] = []
        self.values: dict[str, Any] = {}
        self._start_level(root)

    def read(self) -> None:
        while self.position < len(self.words):
            word = self.words[self.position]
            if word == "--":
                self.position += 1
                self._positionals += self._rest()
            elif self._is_option(word):
                self._read_option(str(word))
            elif self._takes_remainder():
                self._positionals += self._rest()
            elif self._has_enough and isinstance(word, str) and (below := self.level.subcommand(word)):
                self._end_level()
                self.commands.append(below.name)
                self._start_level(below)
                self.position += 1
            else:
                self._positionals.append(word)
                self.position += 1
        self._end_level()

    def _start_level(self, level: CommandLevel) -> None:
        self.level = level
        self._positionals: list[Any] = []
        self._flags = {flag: each for each in level.parameters for flag in each.flags + each.negative_flags}

    @property
    def _positional_parameters(self) -> list[Parameter]:
        return [each for each in self.level.parameters if each.is_positional]

    @property
    def _has_enough(self) -> bool:
        return len(self._positionals) >= sum(each.min_values for each in self._positional_parameters)

    def _takes_remainder(self) -> bool:
        parameters = self._positional_parameters
        before = sum(each.min_values for each in parameters[:-1])
        return bool(parameters) and parameters[-1].remainder and len(self._positionals) >= before

    def _rest(self) -> list[Any]:
        rest, self.position = self.words[self.position :], len(self.words)
        return rest

    def _is_option(self, word: Any) -> bool:
        if not isinstance(word, str) or not word.startswith("-") or word == "-":
            return False
        return not _NUMBER.fullmatch(word) or word in self._flags

    def _read_option(self, word: str) -> None:
        self.position += 1
        flag, equals, given = word.partition("=")
        if word in self._flags:
            self._take(word, self._flags[word])
        elif equals and flag in self._flags and not self._flags[flag].is_switch:
            self._add(self._flags[flag], [given])
        elif word[:2] in self._flags and not word.startswith("--"):
            self._read_joined(word)
        else:
            raise _NoMatch

    def _read_joined(self, word: str) -> None:
        """Reads short options in one word: switches such as ``-vq``, or an option with its
        value such as ``-ofile``.
        """
        for place, letter in enumerate(word[1:], start=2):
            parameter = self._flags.get(f"-{letter}")
            if parameter is None:
                raise _NoMatch
            if not parameter.is_switch:
                rest = word[place:]
                self._add(parameter, [rest]) if rest else self._take(f"-{letter}", parameter)
                return
            self._take(f"-{letter}", parameter)

    def _take(self, flag: str, parameter: Parameter) -> None:
        """Reads the values that follow the flag. Raises _NoMatch if there are too few."""
        if parameter.is_switch:
            self._add_switch(parameter, on=flag in parameter.flags)
            return
        taken: list[Any] = []
        while (
            self.position < len(self.words)
            and (parameter.max_values is None or len(taken) < parameter.max_values)
            and not self._is_option(self.words[self.position])
            and self.words[self.position] != "--"
        ):
            taken.append(self.words[self.position])
            self.position += 1
        if len(taken) < parameter.min_values:
            raise _NoMatch
        self._add(parameter, taken)

    def _add_switch(self, parameter: Parameter, *, on: bool) -> None:
        if parameter.repeated:
            self.values[parameter.id] = self.values.get(parameter.id, 0) + 1
        else:
            self.values[parameter.id] = on

    def _add(self, parameter: Parameter, taken: list[Any]) -> None:
        is_single = parameter.max_values == 1
        value = (taken[0] if taken else True) if is_single else taken
        if parameter.repeated:
            self.values.setdefault(parameter.id, []).append(value)
        elif parameter.id in self.values and not self.last_wins:
            raise _NoMatch
        else:
            self.values[parameter.id] = value

    def _end_level(self) -> None:
        """Assigns the collected words to the positional parameters; each takes as many as it can.

        Raises _NoMatch if words are left over.
        """
        words, parameters = self._positionals, self._positional_parameters
        for place, parameter in enumerate(parameters):
            needed = sum(each.min_values for each in parameters[place + 1 :])
            available = max(0, len(words) - needed)
            count = available if parameter.max_values is None else min(available, parameter.max_values)
            taken, words = words[:count], words[count:]
            if taken:
                self.values[parameter.id] = taken if parameter.has_many_values else taken[0]
        if words:
            raise _NoMatch
