"""The JSON stdin protocol: one JSON request on stdin, one JSON answer on stdout."""

import json
from collections.abc import Mapping
from typing import Any

from registry.packages.problems import CODES, code_named
from worker.protocols.call import Outcome, Request
from worker.protocols.errors import INTERNAL_ERROR, INVALID_JSON
from worker.protocols.formats.json_answer import find_answer
from worker.protocols.formats.traces import parse_memory_writes, parse_steps
from worker.sandbox.policy import SandboxResult

_CODE_LENGTH = 64


def request_bytes(request: Request) -> bytes:
    """The JSON document that the script reads: ``{action, params, context}``."""
    document = {
        "action": request.action,
        "params": dict(request.inputs),
        "context": dict(request.context),
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def interpret(request: Request, result: SandboxResult) -> Outcome:
    """The outcome of a script that exited. If there is no JSON answer, the outcome is a failure with a
    standard code.

    A reported success with a nonzero exit code is a failure too, with INTERNAL_ERROR.
    """
    answer = find_answer(result.stdout.decode("utf-8", "replace"))
    if answer is None:
        return failed_answer(request, *_missing_answer(result))
    answer = answer if "action" in answer else {**answer, "action": request.action}
    if answer.get("success") is False:
        return _failure_outcome(answer)
    if result.exit_code != 0:
        return failed_answer(
            request, INTERNAL_ERROR.name, f"the script reported success, but {describe_exit(result)}", answer
        )
    return _success_outcome(answer)


def failed_answer(
    request: Request, code: str, message: str = "", answer: Mapping[str, Any] | None = None
) -> Outcome:
    """The outcome of a failure that the script did not report; ``error.details`` keeps the script's answer.

    ``message`` is by default the text of ``code``.
    """
    message = message or code_named(code).message
    error = {"code": code, "message": message, "details": {"answer": answer} if answer else {}}
    document = {**(answer or {}), "success": False, "action": request.action, "error": error}
    return Outcome(success=False, failure_code=code, message=message, error=error, answer=document)


def describe_exit(result: SandboxResult) -> str:
    """A phrase for error messages that names the script's exit code or signal."""
    if result.exit_code is None:
        return f"the script was ended by signal {result.signal}"
    return f"the script ended with exit code {result.exit_code}"


def _missing_answer(result: SandboxResult) -> tuple[str, str]:
    if result.exit_code != 0:
        return INTERNAL_ERROR.name, f"{describe_exit(result)} and no JSON answer"
    return INVALID_JSON.name, "the script printed no JSON object"


def _failure_outcome(answer: dict[str, Any]) -> Outcome:
    error_value = answer.get("error")
    given = {"message": error_value} if isinstance(error_value, str) else _object(error_value)
    code = given.get("code")
    code = code[:_CODE_LENGTH] if isinstance(code, str) and code.strip() else INTERNAL_ERROR.name
    message = _text(given.get("message")) or _text(answer.get("message")) or _message_of(code)
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


def _success_outcome(answer: dict[str, Any]) -> Outcome:
    writes, warnings = parse_memory_writes(answer)
    steps, step_warnings = parse_steps(answer)
    success_warnings = () if answer.get("success") is True else ("the answer has no success: true or false",)
    return Outcome(
        success=True,
        message=_text(answer.get("message")),
        output=answer.get("data"),
        answer=answer,
        warnings=(*success_warnings, *warnings, *step_warnings),
        memory_writes=writes,
        steps=steps,
        metadata=_object(answer.get("metadata")),
    )


def _message_of(code: str) -> str:
    return code_named(code).message if code in CODES and "%(" not in code_named(code).message else code


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
