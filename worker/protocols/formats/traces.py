"""Parses the steps and memory writes that scripts report; unusable ones become warnings."""

import json
from collections.abc import Mapping
from typing import Any

from worker.protocols.call import StepTrace

OWNER_TYPES = ("user", "household", "task", "group")
MEMORY_TYPES = ("preference", "fact", "event", "summary")
MAX_STEPS = 1_000  # limit of the steps of a run
MAX_MEMORY_WRITES = 100  # limit of the memory writes of a run
MAX_CONTENT_LENGTH = 4_000  # characters of one memory
MAX_METADATA_LENGTH = 16_384  # characters of its metadata as JSON
_NAME_LENGTH = 200


def parse_steps(answer: Mapping[str, Any]) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    """Up to 1,000 of the answer's ``intermediateSteps`` in order, and warnings about unusable ones."""
    return parse_step_list(_get(answer, "intermediateSteps"))


def parse_step_list(value: Any) -> tuple[tuple[StepTrace, ...], tuple[str, ...]]:
    items, warnings = _items(value, "intermediateSteps")
    return tuple(_step(item, index) for index, item in enumerate(items, 1)), warnings


def parse_memory_writes(
    answer: Mapping[str, Any], *, abp: bool = False
) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """Up to 100 valid ``memoryWrites`` of the answer, and warnings about the others.

    Each is ``{ownerType, ownerId, type, importance, content, metadata}``. ``ownerId`` is "" if it is omitted;
    ``importance`` is an integer from 1 to 5. If the script gave another number (a fraction, or 0 to 1 as ABP
    tools do), ``originalImportance`` keeps it. With ``abp``, owner and importance can be omitted; they are
    then ``user`` and 3.
    """
    items, warnings = _items(_get(answer, "memoryWrites"), "memoryWrites", MAX_MEMORY_WRITES)
    writes = []
    for index, item in enumerate(items):
        write, problems = _memory_write(item, abp=abp)
        warnings = (*warnings, *(f"memoryWrites/{index} {text}" for text in problems))
        writes += [write] if write else []
    return tuple(writes), warnings


def normalize_importance(given: Any, *, abp: bool) -> int | None:
    """The importance as an integer from 1 to 5; None if invalid. With ``abp``, 0 to 1 is mapped to 1 to 5."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if abp and 0 <= given <= 1:
        return 1 + int(given * 4 + 0.5)
    return int(given + 0.5) if 1 <= given <= 5 else None


def _memory_write(item: Mapping[str, Any], *, abp: bool) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    names = ("ownerType", "ownerId", "type", "importance", "content", "metadata")
    write = {name: _get(item, name) for name in names}
    if abp:
        write["ownerType"] = write["ownerType"] or "user"
        write["importance"] = 3 if write["importance"] is None else write["importance"]
    given, write["importance"] = write["importance"], normalize_importance(write["importance"], abp=abp)
    if problem := _field_problem(write) or ("" if abp else _empty_owner(write["ownerId"])):
        return None, (f"was dropped: {problem}",)
    write["ownerId"] = (write["ownerId"] or "").strip()
    problem = _metadata_problem(write["metadata"])
    write["metadata"] = {} if problem else write["metadata"] or {}
    mapped = {"originalImportance": given} if given != write["importance"] else {}
    return {**write, **mapped}, (f"lost its metadata: {problem}",) if problem else ()


def _step(item: Mapping[str, Any], number: int) -> StepTrace:
    reported_id = _get(item, "stepId")
    step_id = str(reported_id)[:_NAME_LENGTH] if reported_id is not None else str(number)
    return StepTrace(
        step_id=step_id,
        name=str(_get(item, "stepName") or item.get("name") or step_id)[:_NAME_LENGTH],
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


def _field_problem(write: Mapping[str, Any]) -> str:
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
    if len(content) > MAX_CONTENT_LENGTH:
        return f"content is longer than {MAX_CONTENT_LENGTH} characters"
    return ""


def _empty_owner(owner: object) -> str:
    """A message if the owner is an empty text, otherwise "". An omitted owner is valid and means the
    caller.
    """
    return "ownerId is empty" if isinstance(owner, str) and not owner.strip() else ""


def _metadata_problem(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "it is not an object" if value else ""
    try:
        long = len(json.dumps(value)) > MAX_METADATA_LENGTH
    except (ValueError, RecursionError):
        long = True
    return f"it is longer than {MAX_METADATA_LENGTH} characters" if long else ""


def _items(value: Any, name: str, limit: int = MAX_STEPS) -> tuple[list[Mapping[str, Any]], tuple[str, ...]]:
    if value is None:
        return [], ()
    if not isinstance(value, list):
        return [], (f"{name} is not a list",)
    objects = [item for item in value if isinstance(item, Mapping)]
    problems = (
        (f"{name}: {len(value) - len(objects)} entries are not objects",) if len(objects) < len(value) else ()
    )
    cut = (f"{name}: only the first {limit} were kept",) if len(objects) > limit else ()
    return objects[:limit], (*problems, *cut)


def _get(item: Mapping[str, Any], name: str) -> Any:
    """The value with the camel case name, otherwise with the same name in snake case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return item[name] if name in item else item.get(snake)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None
