"""Renders the prompt of a skill with the caller's arguments; runs no command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from registry.packages.manifest.sections import find_commands

_PLACE = re.compile(r"\$\{(CLAUDE_SKILL_DIR|CLAUDE_SESSION_ID)\}")


@dataclass(frozen=True)
class Command:
    """A command of a prompt. ``written`` is its text in the prompt; ``source`` has shell variables in place
    of arguments.
    """

    written: str
    source: str


@dataclass(frozen=True)
class Prompt:
    """The rendered text, and its ``commands`` as they are written in the prompt.

    ``pieces`` is the same text split at its commands; it is empty if arguments were not filled in. Arguments
    never become part of a command: the shell reads them from ``environment`` and from ``words`` (``$0``,
    ``$1`` …).
    """

    text: str
    commands: tuple[str, ...]
    pieces: tuple[str | Command, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def render(
    body: str,
    *,
    arguments: str | None = "",
    names: Sequence[str] = (),
    values: Mapping[str, str] | None = None,
    words: Sequence[str] | None = None,
    skill_dir: str = "",
    session_id: str = "",
) -> Prompt:
    """Replaces placeholders in ``body``. If no placeholder stands for an argument, appends ``arguments``.

    ``$ARGUMENTS`` is the whole line, ``$ARGUMENTS[n]`` counts from 0. ``$name`` is ``values[name]`` or the
    word at the position of the name in ``names``. ``$n`` counts from 0 if the body contains ``$0``, otherwise
    from 1, as in older commands. An index out of range becomes "".

    ``words`` overrides the words into which ``arguments`` would be split. ``arguments=None`` keeps the
    placeholders of arguments; an empty ``skill_dir`` or ``session_id`` keeps its placeholder. Placeholders
    within arguments are kept.
    """
    if arguments is None:
        places = {"CLAUDE_SKILL_DIR": skill_dir, "CLAUDE_SESSION_ID": session_id}
        text = _PLACE.sub(lambda match: places[match[1]] or match[0], body)
        return Prompt(text, tuple(_commands(body)))
    given = split_arguments(arguments) if words is None else tuple(words)
    named = {name: given[index] if index < len(given) else "" for index, name in enumerate(names)}
    substitution = _Substitution(
        arguments, given, named | dict(values or {}), skill_dir, session_id, _first_index(body)
    )
    placeholders = _placeholders(tuple(substitution.named))
    text = placeholders.sub(substitution, body)
    pieces = tuple(_pieces(body, placeholders, substitution))
    if arguments and not substitution.used:
        text, pieces = f"{text}\n\nARGUMENTS: {arguments}", (*pieces, f"\n\nARGUMENTS: {arguments}")
    words_of_shell = (given or ("",)) if substitution.first == 0 else ("prompt", *given)
    return Prompt(text, tuple(_commands(body)), pieces, substitution.environment, words_of_shell)


def split_arguments(arguments: str) -> tuple[str, ...]:
    """Splits a line into words as a shell does; splits a line with an open quote at spaces."""
    try:
        return tuple(shlex.split(arguments))
    except ValueError:
        return tuple(arguments.split())


def join_arguments(words: Sequence[str]) -> str:
    """The line that splits into these words; empty words at the end are omitted."""
    trimmed = list(words)
    while trimmed and not trimmed[-1]:
        trimmed.pop()
    return " ".join(shlex.quote(word) if _needs_quotes(word) else word for word in trimmed)


def _needs_quotes(word: str) -> bool:
    return not word or any(character.isspace() or character in "'\"\\" for character in word)


def _first_index(body: str) -> int:
    return 0 if re.search(r"\$0(?!\w)", body, re.ASCII) else 1


def _commands(body: str) -> Iterator[str]:
    for match in find_commands(body):
        yield (match["line"] or match["block"]).rstrip("\n")


def _pieces(body: str, placeholders: re.Pattern[str], substitution: _Substitution) -> Iterator[str | Command]:
    at = 0
    for match in find_commands(body):
        yield placeholders.sub(substitution, body[at : match.start()])
        written = (match["line"] or match["block"]).rstrip("\n")
        yield Command(written, placeholders.sub(substitution.for_shell, written))
        at = match.end()
    yield placeholders.sub(substitution, body[at:])


def _placeholders(names: tuple[str, ...]) -> re.Pattern[str]:
    named = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        r"\$\{(?P<place>CLAUDE_SKILL_DIR|CLAUDE_SESSION_ID)\}"
        r"|\$ARGUMENTS\[(?P<index>\d{1,4})\]"
        rf"|\$(?P<named>{named})(?![\w\[])"
        r"|\$(?P<number>\d{1,4})(?!\w)"
        r"|\$(?P<whole>ARGUMENTS)",
        re.ASCII,  # a Chinese character may follow a placeholder
    )


class _Substitution:
    """Replaces placeholders in a prompt. ``used`` becomes True once a placeholder stood for an argument."""

    def __init__(
        self,
        line: str,
        words: tuple[str, ...],
        named: Mapping[str, str],
        skill_dir: str,
        session_id: str,
        first: int,
    ) -> None:
        self.line, self.words, self.named, self.first = line, words, named, first
        self.places = {"CLAUDE_SKILL_DIR": skill_dir, "CLAUDE_SESSION_ID": session_id}
        self.environment: dict[str, str] = {}  # environment variables with the arguments of commands
        self.used = False

    def __call__(self, match: re.Match[str]) -> str:
        if place := match["place"]:
            return self.places[place] or match[0]
        self.used = True
        if match["whole"]:
            return self.line
        if match["named"] is not None:
            return self.named[match["named"]]
        if match["index"]:
            return self._word(int(match["index"]))
        return self._word(int(match["number"]) - self.first)

    def for_shell(self, match: re.Match[str]) -> str:
        """Replaces a placeholder with a shell variable, so that no value becomes part of the command's text.

        Stores the value in ``environment``, except for ``$n``, which the shell reads from its words.
        """
        if place := match["place"]:
            return self._variable(place, self.places[place])
        self.used = True
        if number := match["number"]:
            return match[0] if len(number) == 1 else f"${{{int(number)}}}"
        if match["whole"]:
            followed = match.string[match.end() : match.end() + 1]
            written = self._variable("ARGUMENTS", self.line)
            return written if followed.isidentifier() or followed.isdigit() else match[0]
        if match["named"] is not None:
            number = list(self.named).index(match["named"])
            return self._variable(f"ARGUMENT_NAMED_{number}", self.named[match["named"]])
        return self._variable(f"ARGUMENT_{int(match['index'])}", self._word(int(match["index"])))

    def _variable(self, name: str, value: str) -> str:
        self.environment[name] = value
        return f"${{{name}}}"

    def _word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""
