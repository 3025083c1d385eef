"""Text of strangers made fit to be read: what cannot be seen is shown, what commands a terminal is taken out."""

from __future__ import annotations

import json
import re

# Escape sequences of terminals: CSI, OSC and the like up to their end, and two-character ones.
_ANSI = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
# Controls but tab, and what turns, hides or joins text without being seen.
_UNSEEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_JSON_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def without_ansi(text: str) -> str:
    """The text without terminal colours, movements and titles."""
    return _ANSI.sub("", text)


def seen(text: str) -> str:
    """The text with every character that cannot be seen written as ``<U+202E>``."""
    return _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def log_line(text: str) -> str:
    """One line of a log: what a carriage return overwrote is gone, colours too, other controls are shown."""
    return seen(without_ansi(text).rstrip("\r").rpartition("\r")[2])


def json_text(value: object, *, indent: int | None = 2) -> str:
    """JSON for people: their letters as they are, what cannot be seen as an escape that reads back the same."""
    return _JSON_UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, indent=indent))


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
