"""Protocol ``script``: passes arguments and inputs on the command line; reads a JSON object from the last
line of stdout.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from registry.packages.problems import gettext_noop as _
from worker.protocols.errors import ARGUMENT_NAME_INVALID, ARGUMENT_NOT_STORABLE, ARGUMENTS_TOO_LARGE
from worker.protocols.formats.json_answer import parse_object

MAX_ARGUMENT_BYTES = 131_071  # Linux: MAX_ARG_STRLEN without the closing NUL
MAX_TOTAL_BYTES = 1_048_576  # half of the usual limit; the other half is for the environment and the sandbox
_BYTES_PER_ARGUMENT = 9  # the closing NUL and the pointer to it
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MAX_SHOWN = 60


def argument_vector(inputs: Mapping[str, Any], arguments: Sequence[Any] = ()) -> tuple[str, ...]:
    """The arguments, followed by ``--kebab-case`` and the value of each input. Values other than text become
    JSON.

    Omits None. The inputs come last, so that a subcommand can precede its options. Raises
    ARGUMENT_NAME_INVALID for an input that can't be an option, ARGUMENT_NOT_STORABLE for a value that no
    program can receive, and ARGUMENTS_TOO_LARGE above the limits.
    """
    vector = [
        _argument(str(number), value, f"arguments/{number - 1}")
        for number, value in enumerate(arguments, start=1)
        if value is not None
    ]
    for name, value in inputs.items():
        if not _NAME.fullmatch(name):
            raise ARGUMENT_NAME_INVALID.refusal(name=ascii(name[:_MAX_SHOWN])).at(
                f"/{ascii(name[:_MAX_SHOWN])[1:-1]}"
            )
        if value is not None:
            vector += ["--" + name.replace("_", "-"), _argument(name, value, f"/{name}")]
    _check_size(vector)
    return tuple(vector)


def parse_outputs(stdout: str) -> dict[str, Any]:
    """The JSON object on the last non-blank line; an empty dict if there is none."""
    last = stdout.rstrip().rpartition("\n")[2]
    return parse_object(last) or {}


def _argument(name: str, value: Any, place: str) -> str:
    try:
        text = value if isinstance(value, str) else _json(value)
    except (ValueError, TypeError, RecursionError):
        raise _not_storable(name, _("a value that is not JSON"), place) from None
    if "\0" in text:
        raise _not_storable(name, _("a NUL character"), place)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _not_storable(name, _("a lone Unicode surrogate"), place)
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _not_storable(name: str, what: str, place: str) -> Exception:
    return ARGUMENT_NOT_STORABLE.refusal(name=name, what=what).at(place)


def _check_size(vector: list[str]) -> None:
    sizes = [len(word.encode()) for word in vector]
    if max(sizes, default=0) > MAX_ARGUMENT_BYTES:
        raise ARGUMENTS_TOO_LARGE.refusal(size=max(sizes), limit=MAX_ARGUMENT_BYTES)
    total = sum(sizes) + _BYTES_PER_ARGUMENT * len(sizes)
    if total > MAX_TOTAL_BYTES:
        raise ARGUMENTS_TOO_LARGE.refusal(size=total, limit=MAX_TOTAL_BYTES)
