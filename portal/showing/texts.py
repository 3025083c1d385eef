"""Text of strangers made fit to be read: the unseen is shown, terminal commands go."""

from __future__ import annotations

import json
import re

# Escape sequences of terminals: CSI, OSC and the like up to their end, and two-character ones.
_ANSI = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]"
    "|[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
# What no reader sees, beside ASCII's controls: later controls, direction marks, zero widths, fillers, tags.
_UNSEEN = (
    "\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_TEXT_UNSEEN = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
_BOXES = 1000  # of one text; a text of nothing but hidden characters would grow fortyfold
_JSON_UNSEEN = re.compile(f"[{_UNSEEN}]")  # those of ASCII are escapes in JSON already


def visible(text: str) -> str:
    """The text with what no reader sees (controls, direction marks, zero widths) written as ``‹U+202E›``."""
    return _TEXT_UNSEEN.sub(lambda found: f"‹U+{ord(found.group()):04X}›", text)


def mark_hidden(html: str) -> str:
    """HTML with what no reader sees replaced by its number in a box; the caller has escaped the rest."""
    boxed = _TEXT_UNSEEN.sub(
        lambda found: f'<span class="hidden-char">U+{ord(found.group()):04X}</span>', html, count=_BOXES
    )
    return _TEXT_UNSEEN.sub("\ufffd", boxed)


def without_ansi(text: str) -> str:
    """The text without terminal colours, movements and titles."""
    return _ANSI.sub("", text)


def log_line(text: str) -> str:
    """One line of a log: without colours, and without what a carriage return overwrote."""
    return without_ansi(text).rstrip("\r").rpartition("\r")[2]


def json_text(value: object, *, indent: int | None = 2) -> str:
    """JSON for people: letters as they are, the unseen as escapes that read back the same."""
    return _JSON_UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, indent=indent))


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
