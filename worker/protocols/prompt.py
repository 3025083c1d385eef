"""A skill that is a prompt: its text with the caller's arguments put in. No command is run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PLACE = re.compile(r"\$\{(CLAUDE_SKILL_DIR|CLAUDE_SESSION_ID)\}")
_COMMAND = re.compile(r"!`([^`\n]+)`")


@dataclass(frozen=True)
class Prompt:
    """The rendered text, and the ``!`command` `` lines that stand in it as they were written."""

    text: str
    commands: tuple[str, ...]


def render(
    body: str,
    *,
    arguments: str | None = "",
    names: Sequence[str] = (),
    values: Mapping[str, str] | None = None,
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
        return Prompt(text, tuple(_COMMAND.findall(body)))
    words = split_arguments(arguments)
    named = {name: words[index] if index < len(words) else "" for index, name in enumerate(names)}
    fill = _Filling(arguments, words, named | dict(values or {}), skill_dir, session_id, _first_index(body))
    text = _placeholders(tuple(fill.named)).sub(fill, body)
    if arguments and not fill.used:
        text += f"\n\nARGUMENTS: {arguments}"
    return Prompt(text, tuple(_COMMAND.findall(body)))


def split_arguments(arguments: str) -> tuple[str, ...]:
    """Words as a shell reads them; a line with an open quote is split at spaces."""
    try:
        return tuple(shlex.split(arguments))
    except ValueError:
        return tuple(arguments.split())


def _first_index(body: str) -> int:
    return 0 if re.search(r"\$0(?!\w)", body, re.ASCII) else 1


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

    def _word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""
