"""Makes publishers' text safe to put in an agent's prompt.

Widths are terminal columns; a Chinese character takes two.
"""

import unicodedata

from wcwidth import wcwidth

ELLIPSIS = "…"
MAX_LINE_CHARACTERS = 1024  # the open format's limit for a description
_INVISIBLE_CATEGORIES = frozenset(
    {"Cc", "Cf", "Cn", "Co", "Cs"}
)  # control, direction, tag, zero-width and unassigned characters
_BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)  # letters that render as blank
_MARKUP_LOOKALIKES = str.maketrans({"<": "‹", ">": "›", "`": "'"})


def one_line(text: str) -> str:
    """The text in one line, without control, bidirectional, tag, variation and other invisible characters."""
    spaced = " ".join(text.split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    return " ".join("".join(one for one in spaced if _is_visible(one)).split())


def short_line(text: str) -> str:
    """The text as one line of at most ``MAX_LINE_CHARACTERS``, so that one description cannot fill a prompt.
    It ends with ``…`` if shortened.
    """
    line = one_line(text)
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + ELLIPSIS


def neutralize_markup(text: str) -> str:
    """The text in which look-alikes of the same width replace the characters of tags, code and links."""
    return text.translate(_MARKUP_LOOKALIKES).replace("](", ")(")


def width(text: str) -> int:
    """The width in terminal columns of a text from ``one_line``."""
    return len(text) if text.isascii() else sum(max(wcwidth(one), 0) for one in text)


def truncate(text: str, columns: int) -> str:
    """The text in at most ``columns`` columns, ending with ``…`` if shortened."""
    if width(text) <= columns:
        return text
    room = columns - 1
    for at, one in enumerate(text):
        room -= max(wcwidth(one), 0)
        if room < 0:
            return text[:at] + ELLIPSIS
    return text + ELLIPSIS


def _is_visible(one: str) -> bool:
    is_variation = "\ufe00" <= one <= "\ufe0f" or "\U000e0100" <= one <= "\U000e01ef"
    return not (is_variation or one in _BLANK_LETTERS or unicodedata.category(one) in _INVISIBLE_CATEGORIES)
