"""How an ended script becomes an Outcome, whatever the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.schemas import validate
from worker.protocols import abp, execute_module, stdin_json
from worker.protocols import codes as codes  # declares what an outcome fails with
from worker.protocols.arguments import outputs_of
from worker.protocols.call import Call, Outcome
from worker.protocols.traces import memory_writes_of, steps_of
from worker.sandbox.policy import Ended

_CODES = {
    "timed_out": "TIMEOUT",
    "output_limit": "OUTPUT_LIMIT",
    "memory_limit": "MEMORY_LIMIT",
    "disk_limit": "DISK_LIMIT",
    "cancelled": "CANCELLED",
    "lease_lost": "WORKER_LOST",
    "start_failed": "START_FAILED",
}
_TOLD = {
    "timed_out": "the script was stopped at its time limit",
    "output_limit": "the output was cut at its limit and the script stopped",
    "memory_limit": "the script was stopped at its memory limit",
    "disk_limit": "the script was stopped at its disk limit",
    "cancelled": "the run was cancelled",
    "lease_lost": "the worker lost the run",
    "start_failed": "the script could not be started",
}


def interpret(call: Call, ended: Ended, *, output_schema: Mapping[str, Any] | None = None) -> Outcome:
    """What came of a call: stopped, failed or answered, and whether the answer fits the skill's schema."""
    if ended.ending != "exited":
        return _stopped(call, ended)
    if call.protocol == "stdin_json":
        outcome = stdin_json.interpret(call.request, ended)
    elif call.protocol == "execute":
        outcome = execute_module.interpret(ended)
    elif call.protocol == "abp":
        outcome = abp.interpret(call, ended)
    else:
        outcome = _script(ended)
    return _checked(call, outcome, output_schema) if outcome.success and output_schema else outcome


def _script(ended: Ended) -> Outcome:
    outputs = outputs_of(ended.stdout.decode("utf-8", "replace"))
    writes, dropped = memory_writes_of(outputs)
    steps, odd = steps_of(outputs)
    outcome = Outcome(
        success=True, outputs=outputs, warnings=(*dropped, *odd), memory_writes=writes, steps=steps
    )
    return outcome if ended.exit_code == 0 else _failed(outcome, "SCRIPT_FAILED", stdin_json.how(ended))


def _stopped(call: Call, ended: Ended) -> Outcome:
    code, told = _CODES[ended.ending], _TOLD[ended.ending]
    told += f" ({ended.detail})" if ended.detail else ""
    if call.protocol == "stdin_json" and code in ("TIMEOUT", "OUTPUT_LIMIT", "MEMORY_LIMIT", "DISK_LIMIT"):
        return stdin_json.failure(call.request, code, told)
    return _failed(Outcome(success=False), code, told)


def _checked(call: Call, outcome: Outcome, schema: Mapping[str, Any]) -> Outcome:
    answer = outcome.outputs if call.protocol == "script" else outcome.output
    problems = validate(schema, answer)
    if not problems:
        return outcome
    told = "; ".join(f"{problem.path or '/'}: {problem.message()}" for problem in problems[:5])
    details = [{"path": problem.path, "message": problem.message()} for problem in problems[:50]]
    return _failed(outcome, "OUTPUT_INVALID", told, {"problems": details})


def _failed(outcome: Outcome, code: str, message: str, details: Mapping[str, Any] | None = None) -> Outcome:
    error = {"code": code, "message": message, "details": dict(details or {})}
    return replace(outcome, success=False, failure_code=code, message=message, error=error)
