"""Writes texts as YAML scalars that ``YamlReader`` and stricter parsers read back unchanged."""

import json
import re
from typing import Any

_PLAIN = re.compile(r"[^\W\d_][\w /()+.,;，。；、（）“”-]*(?<![ ,;])")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_ESCAPED = re.compile(
    "[^\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]"
)


def scalar(text: str) -> str:
    """The text as a plain scalar if safe, otherwise quoted.

    Escapes ``---``, because some readers of front matter split the file there.
    """
    if _PLAIN.fullmatch(text) and "---" not in text and text.lower() not in _WORDS:
        return text
    if not _ESCAPED.search(text) and "---" not in text:
        return "'" + text.replace("'", "''") + "'"
    return json_text(text).replace("--", "-\\u002d")


def json_text(value: Any) -> str:
    """The value as JSON that is also YAML. Escapes characters that YAML rejects or reads as line endings."""
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
