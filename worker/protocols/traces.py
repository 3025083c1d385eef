"""Steps and memory writes as scripts report them: each field checked, what is unusable a warning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from worker.protocols.call import StepTrace

OWNER_TYPES = ("user", "household", "task", "group")
MEMORY_TYPES = ("preference", "fact", "event", "summary")
MOST = 1_000  # steps of one run
MOST_WRITES = 100  # memory writes of one run
LONGEST_CONTENT = 4_000  # characters of one memory
LONGEST_METADATA = 16_384  # characters of its metadata as JSON
_NAME_LENGTH = 200


def steps_of(answer: Mapping[str, Any]) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    """The answer's ``intermediateSteps`` in their order, and what was wrong with them."""
    return read_steps(_either(answer, "intermediateSteps"))


def read_steps(listed: Any) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    items, warnings = _items(listed, "intermediateSteps")
    return tuple(_step(item, index) for index, item in enumerate(items, 1)), warnings


def memory_writes_of(
    answer: Mapping[str, Any], *, abp: bool = False
) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The answer's ``memoryWrites`` that are whole, and why others were dropped.

    Each is ``{ownerType, ownerId, type, importance, content, metadata}``: ``ownerId`` is "" where none is
    named, ``importance`` a whole number from 1 to 5. Where another number was given, 0 to 1 as ABP tools do
    or a fraction, ``importanceGiven`` has that. ABP tools may leave out owner and importance.
    """
    items, warnings = _items(_either(answer, "memoryWrites"), "memoryWrites", MOST_WRITES)
    kept = []
    for index, item in enumerate(items):
        write, odd = _memory_write(item, abp=abp)
        warnings = (*warnings, *(f"memoryWrites/{index} {text}" for text in odd))
        kept += [write] if write else []
    return tuple(kept), warnings


def importance_of(given: Any, *, abp: bool) -> int | None:
    """A whole number from 1 to 5; ABP's 0 to 1 is spread over it. None where it is neither."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if abp and 0 <= given <= 1:
        return 1 + int(given * 4 + 0.5)
    return int(given + 0.5) if 1 <= given <= 5 else None


def _memory_write(item: Mapping[str, Any], *, abp: bool) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    names = ("ownerType", "ownerId", "type", "importance", "content", "metadata")
    write = {name: _either(item, name) for name in names}
    if abp:
        write["ownerType"] = write["ownerType"] or "user"
        write["importance"] = 3 if write["importance"] is None else write["importance"]
    given, write["importance"] = write["importance"], importance_of(write["importance"], abp=abp)
    if wrong := _wrong_field(write):
        return None, (f"was dropped: {wrong}",)
    write["ownerId"] = (write["ownerId"] or "").strip()
    odd = _wrong_metadata(write["metadata"])
    write["metadata"] = {} if odd else write["metadata"] or {}
    mapped = {"importanceGiven": given} if given != write["importance"] else {}
    return {**write, **mapped}, (f"lost its metadata: {odd}",) if odd else ()


def _step(item: Mapping[str, Any], number: int) -> StepTrace:
    identity = _either(item, "stepId")
    step_id = str(identity)[:_NAME_LENGTH] if identity is not None else str(number)
    return StepTrace(
        step_id=step_id,
        name=str(_either(item, "stepName") or item.get("name") or step_id)[:_NAME_LENGTH],
        input=item.get("input"),
        output=item.get("output"),
        duration_ms=_number(item.get("duration")),
        error=_error(item.get("error")),
        timestamp=_number(item.get("timestamp")),
    )


def _error(value: Any) -> Mapping[str, Any] | None:
    if not value:
        return None
    if not isinstance(value, Mapping):
        return {"name": "Error", "message": str(value), "stack": ""}
    return {
        "name": str(value.get("name") or "Error"),
        "message": str(value.get("message") or ""),
        "stack": str(value.get("stack") or ""),
    }


def _wrong_field(write: Mapping[str, Any]) -> str:
    owner, content = write["ownerId"], write["content"]
    if write["ownerType"] not in OWNER_TYPES:
        return f"ownerType is not one of {', '.join(OWNER_TYPES)}"
    if owner is not None and (not isinstance(owner, str) or len(owner) > _NAME_LENGTH):
        return f"ownerId is not a text of at most {_NAME_LENGTH} characters"
    if write["type"] not in MEMORY_TYPES:
        return f"type is not one of {', '.join(MEMORY_TYPES)}"
    if write["importance"] is None:
        return "importance is not a number from 1 to 5"
    if not isinstance(content, str) or not content.strip():
        return "content is empty"
    if len(content) > LONGEST_CONTENT:
        return f"content is longer than {LONGEST_CONTENT} characters"
    return ""


def _wrong_metadata(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "it is no object" if value else ""
    try:
        long = len(json.dumps(value)) > LONGEST_METADATA
    except (ValueError, RecursionError):
        long = True
    return f"it is longer than {LONGEST_METADATA} characters" if long else ""


def _items(listed: Any, name: str, most: int = MOST) -> tuple[list[Mapping[str, Any]], tuple[str, ...]]:
    if listed is None:
        return [], ()
    if not isinstance(listed, list):
        return [], (f"{name} is not a list",)
    objects = [item for item in listed if isinstance(item, Mapping)]
    odd = (
        (f"{name}: {len(listed) - len(objects)} entries are not objects",)
        if len(objects) < len(listed)
        else ()
    )
    cut = (f"{name}: only the first {most} were kept",) if len(objects) > most else ()
    return objects[:most], (*odd, *cut)


def _either(item: Mapping[str, Any], name: str) -> Any:
    """The value under the documents' name, or under the same in snake case, as Python writes it."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return item[name] if name in item else item.get(snake)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None
