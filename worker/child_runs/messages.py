"""The messages of a channel: parses untrusted requests and formats answers, each one line of JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.packages.problems import LazyMessage, Refusal, gettext_noop
from worker.child_runs.errors import CHILD_ANSWER_TOO_LARGE, CHILD_REQUEST_INVALID
from worker.models import Run, RunStatus
from worker.protocols.formats.json_answer import parse_object

ANSWER_BYTES = 4_194_304
_MAX_NAME = 200  # characters
_MAX_ID = 100  # characters


@dataclass(frozen=True)
class ChildRunRequest:
    """A script's request; ``id`` is chosen by the script and returned with the answer."""

    skill: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    id: str | int | None = None


def parse_request(line: bytes) -> ChildRunRequest:
    """Parses a script's request from a line of JSON. Raises CHILD_REQUEST_INVALID with the reason."""
    try:
        document = parse_object(line.decode())
    except UnicodeDecodeError:
        document = None
    if document is None:
        raise _invalid(gettext_noop("it is not a JSON object in UTF-8"))
    skill, parameters = document.get("skill"), document.get("parameters") or {}
    if not isinstance(skill, str) or not 0 < len(skill) <= _MAX_NAME or not skill.isprintable():
        raise _invalid(gettext_noop("`skill` is not a valid skill name"))
    if not isinstance(parameters, dict):
        raise _invalid(gettext_noop("`parameters` is not an object"))
    script, action, tool = (_name(document, name) for name in ("script", "action", "tool"))
    return ChildRunRequest(skill, parameters, script, action, tool, _id(document.get("id")))


def _name(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise _invalid(gettext_noop("`script`, `action` and `tool` must be text"))
    return value


def _id(value: object) -> str | int | None:
    if isinstance(value, str):
        return value[:_MAX_ID]
    return value if isinstance(value, int) and abs(value) < 2**53 else None


def _invalid(reason: str) -> Exception:
    return CHILD_REQUEST_INVALID.refusal(reason=LazyMessage(reason))


def answer_line(request: ChildRunRequest, run: Run) -> bytes:
    """The answer for a child run, as a line of JSON.

    A line over ``ANSWER_BYTES`` is replaced by the refusal CHILD_ANSWER_TOO_LARGE, which names the run.
    """
    result: Mapping[str, Any] = run.result or {}
    document = {
        "id": request.id,
        "ok": run.status == RunStatus.SUCCEEDED,
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
        return refusal_line(request, CHILD_ANSWER_TOO_LARGE.refusal(run=run.uid, limit=ANSWER_BYTES))
    return line


def _failure(run: Run) -> dict[str, Any] | None:
    if not run.failure_code:
        return None
    return {"code": run.failure_code, "message": run.message, "details": {}}


def refusal_line(request: ChildRunRequest, refusal: Refusal) -> bytes:
    """The answer for a refusal, as a line of JSON with the same error code as in the API."""
    problem = refusal.problems[0]
    error = {"code": problem.code, "message": problem.message(), "details": {"remedy": problem.remedy()}}
    return _line({"id": request.id, "ok": False, "run": None, "status": "refused", "error": error})


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()
