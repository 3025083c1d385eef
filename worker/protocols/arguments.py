"""Protocol A: inputs as an argument vector, the result on stdout's last line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from registry.packages.problems import refuse
from worker.protocols.answers import json_object

ONE_BYTES = 131_071  # Linux: MAX_ARG_STRLEN without the closing NUL
ALL_BYTES = 1_048_576  # half of what a usual stack allows; the environment and the sandbox need some
_EACH = 9  # the closing NUL and the pointer to it
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SHOWN = 60


def argument_vector(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """``--kebab-case value`` for each input, in the order given; null is left out. Never a shell line."""
    vector: list[str] = []
    for name, value in inputs.items():
        if not _NAME.fullmatch(name):
            raise refuse(
                "ARGUMENT_NAME_INVALID", path=f"/{ascii(name[:_SHOWN])[1:-1]}", name=ascii(name[:_SHOWN])
            )
        if value is not None:
            vector += ["--" + name.replace("_", "-"), _word(name, value)]
    _check_size(vector)
    return tuple(vector)


def outputs_of(stdout: str) -> dict[str, Any]:
    """The JSON object on the last line that is not blank, else nothing."""
    last = stdout.rstrip().rpartition("\n")[2]
    return json_object(last) or {}


def _word(name: str, value: Any) -> str:
    try:
        text = value if isinstance(value, str) else _json(value)
    except (ValueError, TypeError, RecursionError):
        raise _unstorable(name, "no JSON value") from None
    if "\0" in text:
        raise _unstorable(name, "a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _unstorable(name, "half of a surrogate pair")
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _unstorable(name: str, what: str) -> Exception:
    return refuse("ARGUMENT_NOT_STORABLE", path=f"/{name}", name=name, what=what)


def _check_size(vector: list[str]) -> None:
    sizes = [len(word.encode()) for word in vector]
    if max(sizes, default=0) > ONE_BYTES:
        raise refuse("ARGUMENTS_TOO_LARGE", size=max(sizes), limit=ONE_BYTES)
    total = sum(sizes) + _EACH * len(sizes)
    if total > ALL_BYTES:
        raise refuse("ARGUMENTS_TOO_LARGE", size=total, limit=ALL_BYTES)
