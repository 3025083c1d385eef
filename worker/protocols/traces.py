"""Steps and memory writes as scripts report them: each field checked, what is unusable a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worker.protocols.call import StepTrace

OWNER_TYPES = ("user", "household", "task", "group")
MEMORY_TYPES = ("preference", "fact", "event", "summary")
MOST = 1_000  # steps or memory writes of one run
_NAME_LENGTH = 200


def steps_of(answer: Mapping[str, Any]) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    """The answer's ``intermediateSteps`` in their order, and what was wrong with them."""
    return read_steps(_either(answer, "intermediateSteps"))


def read_steps(listed: Any) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    items, warnings = _items(listed, "intermediateSteps")
    return tuple(_step(item, index) for index, item in enumerate(items, 1)), warnings


def memory_writes_of(answer: Mapping[str, Any]) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The answer's ``memoryWrites`` that are whole, and why others were dropped."""
    items, warnings = _items(_either(answer, "memoryWrites"), "memoryWrites")
    kept = []
    for index, item in enumerate(items):
        write = {key: _either(item, key) for key in ("ownerType", "ownerId", "type", "importance", "content")}
        if wrong := _wrong_field(write):
            warnings = (*warnings, f"memoryWrites/{index} was dropped: {wrong}")
        else:
            kept.append({**write, "metadata": _either(item, "metadata") or {}})
    return tuple(kept), warnings


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
    importance = write["importance"]
    if write["ownerType"] not in OWNER_TYPES:
        return f"ownerType is not one of {', '.join(OWNER_TYPES)}"
    if not isinstance(write["ownerId"], str) or not write["ownerId"].strip():
        return "ownerId is empty"
    if write["type"] not in MEMORY_TYPES:
        return f"type is not one of {', '.join(MEMORY_TYPES)}"
    if isinstance(importance, bool) or not isinstance(importance, int | float) or not 1 <= importance <= 5:
        return "importance is not a number from 1 to 5"
    if not isinstance(write["content"], str) or not write["content"].strip():
        return "content is empty"
    return ""


def _items(listed: Any, name: str) -> tuple[list[Mapping[str, Any]], tuple[str, ...]]:
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
    cut = (f"{name}: only the first {MOST} were kept",) if len(objects) > MOST else ()
    return objects[:MOST], (*odd, *cut)


def _either(item: Mapping[str, Any], name: str) -> Any:
    """The value under the documents' name, or under the same in snake case, as Python writes it."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return item[name] if name in item else item.get(snake)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None
