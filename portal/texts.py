"""Text of strangers made fit to be read: the unseen is shown, terminal commands go."""

from __future__ import annotations

import json
import re

# Escape sequences of terminals: CSI, OSC and the like up to their end, and two-character ones.
_ANSI = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]"
    "|[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_JSON_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


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
