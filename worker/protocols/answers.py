"""JSON as scripts write it: read without trust, found among log lines."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_EFFORT = 4  # how often, on average, each character may be read again
_COUNTING = 16  # a failed try also counts the lines before it, that much faster than it reads
_START = re.compile(r'\{\s*["}]')


def json_object(text: str) -> dict[str, Any] | None:
    """The text as one JSON object; None where it is anything else, NaN and infinities included."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def answer_of(stdout: str) -> dict[str, Any] | None:
    """All of stdout, else its last balanced object (better one with ``success``), else its last line."""
    if whole := json_object(stdout.strip().removeprefix("\ufeff")):
        return whole
    found = _objects(stdout)
    speaking = [value for value in found if "success" in value]
    if speaking or found:
        return (speaking or found)[-1]
    return json_object(stdout.rstrip().rpartition("\n")[2])


def _objects(text: str) -> list[dict[str, Any]]:
    """Objects that stand in the text, outermost ones, in order; gives up where the effort is spent."""
    found = []
    effort = _EFFORT * len(text)
    start = _START.search(text)
    while start and effort > 0:
        end = start.start() + 1
        try:
            value, end = _DECODER.raw_decode(text, start.start())
            found.append(value)
        except json.JSONDecodeError as error:
            effort -= error.pos - start.start() + error.pos // _COUNTING + 1
        except (ValueError, RecursionError):
            effort -= len(text) - start.start()
        start = _START.search(text, end)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
