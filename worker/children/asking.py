"""The lines of a door: a request read without trust, an answer in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.packages.problems import Refused, Said, gettext_noop, refuse
from worker.models import Run, Status
from worker.protocols.answers import json_object

ANSWER_BYTES = 4_194_304
_LONGEST = 200  # characters of a name
_LONGEST_ID = 100


@dataclass(frozen=True)
class Asked:
    """``id`` is the script's own, given back with the answer."""

    skill: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    id: str | int | None = None


def read(line: bytes) -> Asked:
    """The request of a line; CHILD_REQUEST_INVALID says what is wrong with any other."""
    try:
        document = json_object(line.decode())
    except UnicodeDecodeError:
        document = None
    if document is None:
        raise _invalid(gettext_noop("it is no JSON object in UTF-8"))
    skill, parameters = document.get("skill"), document.get("parameters") or {}
    if not isinstance(skill, str) or not 0 < len(skill) <= _LONGEST or not skill.isprintable():
        raise _invalid(gettext_noop("skill is not the name of one"))
    if not isinstance(parameters, dict):
        raise _invalid(gettext_noop("parameters are not an object"))
    script, action, tool = (_name(document, name) for name in ("script", "action", "tool"))
    return Asked(skill, parameters, script, action, tool, _id(document.get("id")))


def _name(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise _invalid(gettext_noop("script, action and tool are texts"))
    return value


def _id(value: object) -> str | int | None:
    if isinstance(value, str):
        return value[:_LONGEST_ID]
    return value if isinstance(value, int) and abs(value) < 2**53 else None


def _invalid(reason: str) -> Exception:
    return refuse("CHILD_REQUEST_INVALID", reason=Said(reason))


def answer_document(asked: Asked, run: Run) -> bytes:
    """What came of the child; one that is too large names its run alone."""
    result: Mapping[str, Any] = run.result or {}
    document = {
        "id": asked.id,
        "ok": run.status == Status.SUCCEEDED,
        "run": run.uid,
        "status": run.status,
        "cached": run.cached_from_id is not None,
        "output": result.get("output"),
        "outputs": result.get("outputs") or {},
        "message": run.message,
        "warnings": result.get("warnings") or [],
        "error": result.get("error") or _failure(run),
        "artifacts": [f"{run.uid}/{path}" for path in run.artifacts.values_list("path", flat=True)[:1000]],
    }
    line = _line(document)
    if len(line) > ANSWER_BYTES:
        return refusal(asked, refuse("CHILD_ANSWER_TOO_LARGE", run=run.uid, limit=ANSWER_BYTES))
    return line


def _failure(run: Run) -> dict[str, Any] | None:
    if not run.failure_code:
        return None
    return {"code": run.failure_code, "message": run.message, "details": {}}


def refusal(asked: Asked, no: Refused) -> bytes:
    """Why there is no answer, with the code that the API would give."""
    problem = no.problems[0]
    error = {"code": problem.code, "message": problem.message(), "details": {"remedy": problem.remedy()}}
    return _line({"id": asked.id, "ok": False, "run": None, "status": "refused", "error": error})


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()
