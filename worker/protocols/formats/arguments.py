"""Protocol ``script``: inputs become arguments, and the last line of stdout is the result."""

import json
import re
from collections.abc import Mapping
from typing import Any

from worker.protocols.errors import ARGUMENT_NAME_INVALID, ARGUMENT_NOT_STORABLE, ARGUMENTS_TOO_LARGE
from worker.protocols.formats.json_answer import parse_object

MAX_ARGUMENT_BYTES = 131_071  # Linux: MAX_ARG_STRLEN without the closing NUL
MAX_TOTAL_BYTES = 1_048_576  # half of the usual limit; the rest is for environment and sandbox
_BYTES_PER_ARGUMENT = 9  # the closing NUL and the pointer to it
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MAX_SHOWN = 60


def argument_vector(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """``--kebab-case value`` for each non-null input; raises Refusal for values that can't be arguments."""
    vector: list[str] = []
    for name, value in inputs.items():
        if not _NAME.fullmatch(name):
            raise ARGUMENT_NAME_INVALID.refusal(name=ascii(name[:_MAX_SHOWN])).at(
                f"/{ascii(name[:_MAX_SHOWN])[1:-1]}"
            )
        if value is not None:
            vector += ["--" + name.replace("_", "-"), _argument(name, value)]
    _check_size(vector)
    return tuple(vector)


def parse_outputs(stdout: str) -> dict[str, Any]:
    """The JSON object on the last non-blank line, or an empty dict."""
    last = stdout.rstrip().rpartition("\n")[2]
    return parse_object(last) or {}


def _argument(name: str, value: Any) -> str:
    try:
        text = value if isinstance(value, str) else _json(value)
    except (ValueError, TypeError, RecursionError):
        raise _not_storable(name, "a value that is not JSON") from None
    if "\0" in text:
        raise _not_storable(name, "a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _not_storable(name, "half of a surrogate pair")
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _not_storable(name: str, what: str) -> Exception:
    return ARGUMENT_NOT_STORABLE.refusal(name=name, what=what).at(f"/{name}")


def _check_size(vector: list[str]) -> None:
    sizes = [len(word.encode()) for word in vector]
    if max(sizes, default=0) > MAX_ARGUMENT_BYTES:
        raise ARGUMENTS_TOO_LARGE.refusal(size=max(sizes), limit=MAX_ARGUMENT_BYTES)
    total = sum(sizes) + _BYTES_PER_ARGUMENT * len(sizes)
    if total > MAX_TOTAL_BYTES:
        raise ARGUMENTS_TOO_LARGE.refusal(size=total, limit=MAX_TOTAL_BYTES)
