"""Text as a YAML scalar that our reader and the strictest of others read back as the same text."""

from __future__ import annotations

import json
import re
from typing import Any

_PLAIN = re.compile(r"[^\W\d_][\w /()+.,;，。；、（）“”-]*(?<![ ,;])")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_ESCAPED = re.compile(
    "[^\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]"
)


def scalar(text: str) -> str:
    """Plain where that is safe, else quoted; ``---`` never stands in it, as some split files there."""
    if _PLAIN.fullmatch(text) and "---" not in text and text.lower() not in _WORDS:
        return text
    if not _ESCAPED.search(text) and "---" not in text:
        return "'" + text.replace("'", "''") + "'"
    return json_text(text).replace("--", "-\\u002d")


def json_text(value: Any) -> str:
    """JSON that YAML reads too: what it takes for no character or for the end of a line is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
