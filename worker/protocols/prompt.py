"""A skill that is a prompt: its text with the caller's arguments put in. No command is run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_PLACE = re.compile(r"\$\{(CLAUDE_SKILL_DIR|CLAUDE_SESSION_ID)\}")
_COMMAND = re.compile(
    r"^```![ \t]*\n(?P<block>(?:(?!```)[^\n]*\n)+)```[ \t]*$|!`(?P<line>[^`\n]+)`", re.MULTILINE
)


@dataclass(frozen=True)
class Command:
    """A command that stands in a prompt: ``source`` is what the shell gets, its arguments are variables."""

    written: str
    source: str


@dataclass(frozen=True)
class Prompt:
    """The rendered text, and the ``!`command` `` lines that stand in it as they were written.

    ``pieces`` are the same text cut at its commands. What the caller gave never becomes part of a command:
    the shell finds it in ``environment`` and in ``words`` (``$0``, ``$1`` …).
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
    """Puts ``arguments`` into the placeholders of ``body``; what takes no placeholder is appended.

    ``$ARGUMENTS`` is the whole line, ``$ARGUMENTS[n]`` counts from 0, ``$name`` is a declared name's word (or
    ``values[name]``). ``$n`` counts from 0 where the body says ``$0``, else from 1, as older commands do. Out
    of range is empty; with ``arguments=None`` their placeholders stand. What an argument holds is never
    expanded again. An empty ``skill_dir`` or ``session_id`` leaves its placeholder standing.
    """
    if arguments is None:
        places = {"CLAUDE_SKILL_DIR": skill_dir, "CLAUDE_SESSION_ID": session_id}
        text = _PLACE.sub(lambda match: places[match[1]] or match[0], body)
        return Prompt(text, tuple(_commands(body)))
    given = split_arguments(arguments) if words is None else tuple(words)
    named = {name: given[index] if index < len(given) else "" for index, name in enumerate(names)}
    fill = _Filling(arguments, given, named | dict(values or {}), skill_dir, session_id, _first_index(body))
    placeholders = _placeholders(tuple(fill.named))
    text = placeholders.sub(fill, body)
    pieces = tuple(_pieces(body, placeholders, fill))
    if arguments and not fill.used:
        text, pieces = f"{text}\n\nARGUMENTS: {arguments}", (*pieces, f"\n\nARGUMENTS: {arguments}")
    words_of_shell = (given or ("",)) if fill.first == 0 else ("prompt", *given)
    return Prompt(text, tuple(_commands(body)), pieces, fill.environment, words_of_shell)


def split_arguments(arguments: str) -> tuple[str, ...]:
    """Words as a shell reads them; a line with an open quote is split at spaces."""
    try:
        return tuple(shlex.split(arguments))
    except ValueError:
        return tuple(arguments.split())


def join_arguments(words: Sequence[str]) -> str:
    """The line that splits into these words; empty ones at its end are left out."""
    kept = list(words)
    while kept and not kept[-1]:
        kept.pop()
    return " ".join(shlex.quote(word) if _needs_quotes(word) else word for word in kept)


def _needs_quotes(word: str) -> bool:
    return not word or any(character.isspace() or character in "'\"\\" for character in word)


def _first_index(body: str) -> int:
    return 0 if re.search(r"\$0(?!\w)", body, re.ASCII) else 1


def _commands(body: str) -> Iterator[str]:
    for match in _COMMAND.finditer(body):
        yield (match["line"] or match["block"]).rstrip("\n")


def _pieces(body: str, placeholders: re.Pattern[str], fill: _Filling) -> Iterator[str | Command]:
    at = 0
    for match in _COMMAND.finditer(body):
        yield placeholders.sub(fill, body[at : match.start()])
        written = (match["line"] or match["block"]).rstrip("\n")
        yield Command(written, placeholders.sub(fill.for_shell, written))
        at = match.end()
    yield placeholders.sub(fill, body[at:])


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


class _Filling:
    """What stands for each placeholder; remembers whether an argument was asked for at all."""

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
        self.environment: dict[str, str] = {}  # what commands find their arguments in
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
        """The placeholder as a variable of the shell: no value is ever text of the command."""
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
