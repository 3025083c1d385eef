"""Text of publishers on its way into an agent's prompt: one line, without what no reader sees.

Widths are columns of a terminal, in which a Chinese character takes two.
"""

from __future__ import annotations

import unicodedata

from wcwidth import wcwidth

ELLIPSIS = "…"
BRIEF = 1024  # characters: as long as the open format lets a description be
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})  # controls, directions, tags, zero widths, nobody's
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)  # letters without shape
_QUIET = str.maketrans({"<": "‹", ">": "›", "`": "'"})


def one_line(text: str) -> str:
    """The text in one line, without controls, directions, tags, variations and other unseen characters."""
    spaced = " ".join(text.split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    return " ".join("".join(one for one in spaced if _is_seen(one)).split())


def brief(text: str) -> str:
    """One line of so many characters: nobody fills the prompt of who only asked what there is."""
    line = one_line(text)
    return line if len(line) <= BRIEF else line[: BRIEF - 1] + ELLIPSIS


def quiet(text: str) -> str:
    """The same line where nothing opens or closes a tag, code or a link: as wide as it was."""
    return text.translate(_QUIET).replace("](", ")(")


def width(text: str) -> int:
    """In columns; of text that ``one_line`` made."""
    return len(text) if text.isascii() else sum(max(wcwidth(one), 0) for one in text)


def cut(text: str, columns: int) -> str:
    """The text in at most so many columns, with ``…`` where something is left out."""
    if width(text) <= columns:
        return text
    room = columns - 1
    for at, one in enumerate(text):
        room -= max(wcwidth(one), 0)
        if room < 0:
            return text[:at] + ELLIPSIS
    return text + ELLIPSIS


def _is_seen(one: str) -> bool:
    is_variation = "\ufe00" <= one <= "\ufe0f" or "\U000e0100" <= one <= "\U000e01ef"
    return not (is_variation or one in _BLANK or unicodedata.category(one) in _UNSEEN)
