"""Makes untrusted values storable: replaces what JSON columns of SQLite and PostgreSQL cannot hold."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 200  # maximum nesting of lists and objects
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SUSPECT = re.compile(r"\\u0000|\\u[dD][89a-fA-F]")


def json_text(value: Any) -> str:
    """The value as JSON text that SQLite and PostgreSQL accept; cleaned by ``clean`` if necessary."""
    try:
        text = json.dumps(value, allow_nan=False)
        if not _SUSPECT.search(text) and text.count("[") + text.count("{") < MAX_DEPTH:
            return text
    except (ValueError, RecursionError):
        pass
    return json.dumps(clean(value))


def clean(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A storable copy of the value, with text keys and with lists for tuples.

    NUL and lone surrogates become U+FFFD, NaN and infinities None, and containers below ``depth`` levels "…".
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        if not depth:
            return "…"
        return {clean_text(str(key)): clean(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item, depth - 1) for item in value] if depth else "…"
    return value


def clean_text(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def is_storable(value: Any) -> bool:
    """Whether ``clean`` would change nothing in the value."""
    try:
        return bool(clean(value) == value)
    except RecursionError:
        return False
