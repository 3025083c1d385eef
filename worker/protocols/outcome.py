"""Turns the result of a script in the sandbox into an Outcome, for every protocol."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.schemas.validate import validate
from worker.core.errors import CANCELLED, WORKER_LOST
from worker.protocols import errors
from worker.protocols.call import Call, Outcome
from worker.protocols.formats import abp, execute_module, stdin_json
from worker.protocols.formats.arguments import parse_outputs
from worker.protocols.formats.traces import parse_memory_writes, parse_steps
from worker.sandbox.policy import SandboxResult

_CODES = {
    "timed_out": errors.TIMEOUT.name,
    "output_limit": errors.OUTPUT_LIMIT.name,
    "memory_limit": errors.MEMORY_LIMIT.name,
    "disk_limit": errors.DISK_LIMIT.name,
    "cancelled": CANCELLED.name,
    "lease_lost": WORKER_LOST.name,
    "start_failed": errors.START_FAILED.name,
}
_SCRIPT_LIMITS = ("timed_out", "output_limit", "memory_limit", "disk_limit")
_MESSAGES = {
    "timed_out": "the script was stopped at its time limit",
    "output_limit": "the script was stopped at its output limit",
    "memory_limit": "the script was stopped at its memory limit",
    "disk_limit": "the script was stopped at its disk limit",
    "cancelled": "the run was cancelled",
    "lease_lost": "the worker lost the run",
    "start_failed": "the script could not be started",
}


def interpret(
    call: Call, result: SandboxResult, *, output_schema: Mapping[str, Any] | None = None
) -> Outcome:
    """The outcome of a call; fails with OUTPUT_INVALID if a successful answer does not match the schema."""
    if result.ending != "exited":
        return _stopped_outcome(call, result)
    if call.protocol == "stdin_json":
        outcome = stdin_json.interpret(call.request, result)
    elif call.protocol == "execute":
        outcome = execute_module.interpret(result)
    elif call.protocol == "abp":
        outcome = abp.interpret(call, result)
    else:
        outcome = _interpret_arguments(result)
    return _validate_output(call, outcome, output_schema) if outcome.success and output_schema else outcome


def _interpret_arguments(result: SandboxResult) -> Outcome:
    outputs = parse_outputs(result.stdout.decode("utf-8", "replace"))
    writes, write_warnings = parse_memory_writes(outputs)
    steps, step_warnings = parse_steps(outputs)
    outcome = Outcome(
        success=True,
        outputs=outputs,
        warnings=(*write_warnings, *step_warnings),
        memory_writes=writes,
        steps=steps,
    )
    if result.exit_code == 0:
        return outcome
    return _with_failure(outcome, errors.SCRIPT_FAILED.name, stdin_json.describe_exit(result))


def _stopped_outcome(call: Call, result: SandboxResult) -> Outcome:
    code, message = _CODES[result.ending], _MESSAGES[result.ending]
    message += f" ({result.detail})" if result.detail else ""
    if call.protocol == "stdin_json" and result.ending in _SCRIPT_LIMITS:
        return stdin_json.failed_answer(call.request, code, message)
    return _with_failure(Outcome(success=False), code, message)


def _validate_output(call: Call, outcome: Outcome, schema: Mapping[str, Any]) -> Outcome:
    answer = outcome.outputs if call.protocol == "script" else outcome.output
    problems = validate(schema, answer)
    if not problems:
        return outcome
    message = "; ".join(f"{problem.path or '/'}: {problem.message()}" for problem in problems[:5])
    details = [{"path": problem.path, "message": problem.message()} for problem in problems[:50]]
    return _with_failure(outcome, errors.OUTPUT_INVALID.name, message, {"problems": details})


def _with_failure(
    outcome: Outcome, code: str, message: str, details: Mapping[str, Any] | None = None
) -> Outcome:
    error = {"code": code, "message": message, "details": dict(details or {})}
    return replace(outcome, success=False, failure_code=code, message=message, error=error)
