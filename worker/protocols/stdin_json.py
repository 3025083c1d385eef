"""Protocol B: one JSON request on stdin, one JSON answer on stdout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from registry.packages.problems import CODES
from worker.protocols import codes as codes  # declares the nine
from worker.protocols.answers import answer_of
from worker.protocols.call import Outcome, Request
from worker.protocols.traces import memory_writes_of, steps_of
from worker.sandbox.policy import Ended

_CODE_LENGTH = 64


def request_bytes(request: Request) -> bytes:
    """The document that the script reads: action, params, context."""
    document = {
        "action": request.action,
        "params": dict(request.inputs),
        "context": dict(request.context),
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def interpret(request: Request, ended: Ended) -> Outcome:
    """What an ended script answered; the portal answers with a standard code where the script did not."""
    answer = answer_of(ended.stdout.decode("utf-8", "replace"))
    if answer is None:
        return failure(request, *_silent(ended))
    answer = answer if "action" in answer else {**answer, "action": request.action}
    if answer.get("success") is False:
        return _said_no(answer)
    if ended.exit_code != 0:
        return failure(request, "INTERNAL_ERROR", f"success was answered, but {how(ended)}", answer)
    return _said_yes(answer)


def failure(
    request: Request, code: str, message: str = "", answer: Mapping[str, Any] | None = None
) -> Outcome:
    """The portal's own answer in the protocol's shape; what the script answered is kept beside it."""
    message = message or CODES[code].message
    error = {"code": code, "message": message, "details": {"answer": answer} if answer else {}}
    ours = {**(answer or {}), "success": False, "action": request.action, "error": error}
    return Outcome(success=False, failure_code=code, message=message, error=error, answer=ours)


def how(ended: Ended) -> str:
    """How a process ended, in words."""
    if ended.exit_code is None:
        return f"the script was ended by signal {ended.signal}"
    return f"the script ended with exit code {ended.exit_code}"


def _silent(ended: Ended) -> tuple[str, str]:
    if ended.exit_code != 0:
        return "INTERNAL_ERROR", f"{how(ended)} and no JSON answer"
    return "INVALID_JSON", "the script answered no JSON object"


def _said_no(answer: dict[str, Any]) -> Outcome:
    said = answer.get("error")
    given = said if isinstance(said, dict) else {"message": said} if isinstance(said, str) else {}
    code = given.get("code")
    code = code[:_CODE_LENGTH] if isinstance(code, str) and code.strip() else "INTERNAL_ERROR"
    message = _text(given.get("message")) or _text(answer.get("message")) or _explained(code)
    error = {**given, "code": code, "message": message, "details": given.get("details") or {}}
    return Outcome(
        success=False,
        failure_code=code,
        message=message,
        output=answer.get("data"),
        answer=answer,
        error=error,
        metadata=_object(answer.get("metadata")),
    )


def _said_yes(answer: dict[str, Any]) -> Outcome:
    writes, warnings = memory_writes_of(answer)
    steps, odd = steps_of(answer)
    unsaid = () if answer.get("success") is True else ("the answer does not say success: true or false",)
    return Outcome(
        success=True,
        message=_text(answer.get("message")),
        output=answer.get("data"),
        answer=answer,
        warnings=(*unsaid, *warnings, *odd),
        memory_writes=writes,
        steps=steps,
        metadata=_object(answer.get("metadata")),
    )


def _explained(code: str) -> str:
    return CODES[code].message if code in CODES and "%(" not in CODES[code].message else code


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
