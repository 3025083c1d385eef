"""Finds and parses untrusted JSON that scripts print, also between log lines."""

import gc
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_EFFORT = 4  # how often each character may be read again, on average
_COUNTING = 16  # factor by which json counts the lines before an error faster than it parses
_START = re.compile(r'\{\s*["}]')


def parse_object(text: str) -> dict[str, Any] | None:
    """The text as a JSON object; None if it is not one, or if a number is NaN, infinite or too large."""
    try:
        with _gc_paused():
            value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def find_answer(stdout: str) -> dict[str, Any] | None:
    """The script's answer; None if stdout contains no JSON object.

    This is the whole stdout if it is an object, otherwise the last object with ``success`` in it, otherwise
    the last object.
    """
    if whole := parse_object(stdout.strip().removeprefix("\ufeff")):
        return whole
    last = last_with_success = None
    with _gc_paused():
        for last in _objects(stdout):  # one at a time, because a million small objects need 240 MB
            last_with_success = last if "success" in last else last_with_success
    answer = last if last_with_success is None else last_with_success
    return parse_object(stdout.rstrip().rpartition("\n")[2]) if answer is None else answer


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yields the outermost JSON objects in the text, in order. Stops after too many failed attempts, so that
    the time is linear in the text's length.
    """
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
def _gc_paused() -> Iterator[None]:
    """A context manager that pauses garbage collection, which slows parsing; parsed JSON has no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


_DECODER = json.JSONDecoder(parse_constant=_reject_constant, parse_float=_finite)
