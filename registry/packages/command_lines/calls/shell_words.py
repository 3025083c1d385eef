"""Splits a line of shell code into its simple commands, without expanding anything."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACEHOLDER = r"<[A-Za-z](?:[^<>|&;]{0,60}[^<>|&;\s])?>"
_WORD = rf"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|`[^`]*`|\$\([^()]*\)|\$\{{[^{{}}]*\}}|{_PLACEHOLDER}
    |[^\s'"\\`|;&()<>\#]|(?<=[^\s|;&()<>])\#)+"""
_TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<comment>\#.*)|(?P<redirect>&>>?|\d*(?:<<<|<<-?|>>|[<>]&|>\||>|<(?!{_PLACEHOLDER[1:]})))"
    rf"|(?P<operator>&&|\|\||;;|[|;&()])|(?P<word>{_WORD})",
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(r"""'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)""", re.DOTALL)
_ESCAPED = re.compile(r'\\([$`"\\\n])')
_TEMPLATE = re.compile(r"<[A-Za-z]|\$[A-Za-z_{(@*0-9]|`|\{[A-Za-z_][\w. -]*\}|(?<!\\)\*|\.\.\.|…")
_CHOICE = re.compile(r"[\w>\]]\|[\w<\[]")  # "a|b" instead of "a | b"


@dataclass(frozen=True)
class Word:
    """A word without its quotes. ``is_template`` is set if the word has a variable, pattern or
    placeholder.
    """

    text: str
    is_template: bool = False


def simple_commands(line: str) -> list[list[Word]]:
    """The commands of the line without redirections and comments; [] if it can't be read or is a synopsis."""
    if _CHOICE.search(line):
        return []
    commands: list[list[Word]] = [[]]
    position, drops_next = 0, False
    while position < len(line):
        token = _TOKEN.match(line, position)
        if token is None:  # such as a quote that is not closed
            return []
        position = token.end()
        if token["operator"]:
            commands.append([])
        elif token["word"]:
            if not drops_next:
                commands[-1].append(_word(token["word"]))
            drops_next = False
        drops_next |= bool(token["redirect"])
    return [command for command in commands if command]


def _word(raw: str) -> Word:
    unquoted = _PART.sub(lambda match: "" if match["single"] is not None else match[0], raw)
    return Word(_PART.sub(_plain, raw), bool(_TEMPLATE.search(unquoted)))


def _plain(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return _ESCAPED.sub(r"\1", match["double"])
    return match["single"] if match["single"] is not None else match["escaped"]
