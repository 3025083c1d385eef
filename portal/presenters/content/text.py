"""Makes untrusted text safe to read: shows invisible characters and removes terminal sequences."""

import json
import re
from collections.abc import Mapping

from worker.core.display_budget import MAX_TEXT

# Escape sequences of terminals: CSI, OSC and the like up to their end, and two-character ones.
_ANSI = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]"
    "|[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
# Invisible characters other than ASCII controls: later controls, direction marks, zero widths, fillers, tags.
_INVISIBLE = (
    "\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_TEXT_INVISIBLE = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_MAX_BOXES = 1000  # limit per text, because a text of only hidden characters would grow forty times
_JSON_INVISIBLE = re.compile(f"[{_INVISIBLE}]")  # json.dumps already escapes ASCII controls


def visible(text: str) -> str:
    """The text with invisible characters (controls, direction marks, zero widths) written as ``‹U+202E›``."""
    return _TEXT_INVISIBLE.sub(lambda found: f"‹U+{ord(found.group()):04X}›", text)


def mark_hidden(html: str) -> str:
    """HTML with each invisible character replaced by its code in a box, after ``_MAX_BOXES`` by U+FFFD.

    Does not escape ``html``.
    """
    boxed = _TEXT_INVISIBLE.sub(
        lambda found: f'<span class="hidden-char">U+{ord(found.group()):04X}</span>', html, count=_MAX_BOXES
    )
    return _TEXT_INVISIBLE.sub("\ufffd", boxed)


def without_ansi(text: str) -> str:
    """The text without terminal colors, cursor movements and titles."""
    return _ANSI.sub("", text)


def log_line(text: str) -> str:
    """One log line, without colors and without text that a carriage return overwrote."""
    return without_ansi(text).rstrip("\r").rpartition("\r")[2]


def json_text(value: object, *, indent: int | None = 2) -> str:
    """Readable JSON: letters as they are, invisible characters as escapes that parse to the same value.

    Does not indent deeply nested values, because most of the text would be indentation.
    """
    if indent and _indentation(value, indent) > MAX_TEXT:
        indent = None
    return _JSON_INVISIBLE.sub(_escape, json.dumps(value, ensure_ascii=False, indent=indent))


def _indentation(value: object, indent: int) -> int:
    """The number of spaces that indent a value; stops counting after ``MAX_TEXT``."""
    waiting, spaces = [(value, 0)], 0
    while waiting and spaces <= MAX_TEXT:
        part, depth = waiting.pop()
        if not isinstance(part, Mapping | list | tuple) or not part:
            continue
        depth += indent
        spaces += (len(part) + 1) * depth
        waiting += [(each, depth) for each in (part.values() if isinstance(part, Mapping) else part)]
    return spaces


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
