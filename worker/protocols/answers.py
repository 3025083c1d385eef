"""JSON as scripts write it: read without trust, found among log lines."""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_EFFORT = 4  # how often, on average, each character may be read again
_COUNTING = 16  # a failed try also counts the lines before it, that much faster than it reads
_START = re.compile(r'\{\s*["}]')


def json_object(text: str) -> dict[str, Any] | None:
    """The text as one JSON object; None where it is anything else, NaN and infinities included."""
    try:
        with _unswept():
            value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def answer_of(stdout: str) -> dict[str, Any] | None:
    """All of stdout, else its last balanced object (better one with ``success``), else its last line."""
    if whole := json_object(stdout.strip().removeprefix("\ufeff")):
        return whole
    last = speaking = None
    with _unswept():
        for last in _objects(stdout):  # one at a time: a million small ones are 240 MB
            speaking = last if "success" in last else speaking
    found = last if speaking is None else speaking
    return json_object(stdout.rstrip().rpartition("\n")[2]) if found is None else found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Objects that stand in the text, outermost ones, in order; gives up where the effort is spent."""
    effort = _EFFORT * len(text)
    start = _START.search(text)
    while start and effort > 0:
        end = start.start() + 1
        try:
            value, end = _DECODER.raw_decode(text, start.start())
            yield value
        except json.JSONDecodeError as error:
            effort -= error.pos - start.start() + error.pos // _COUNTING + 1
        except (ValueError, RecursionError):
            effort -= len(text) - start.start()
        start = _START.search(text, end)


@contextmanager
def _unswept() -> Iterator[None]:
    """Nothing that is read here refers back to itself, and each look for that takes longer than the last."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
