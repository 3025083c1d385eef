"""Runs commands of a prompt or an agent loop, each in its own sandbox, all within one run's limits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from worker.attempts.context import AttemptContext
from worker.executors.script import run_job, sandbox_job
from worker.protocols.call import Call, StepTrace
from worker.sandbox.layout import WORK
from worker.sandbox.limits.watchdog import folder_usage
from worker.sandbox.policy import CheckStop, SandboxResult

SKILL_DIR = "/skill"
_MAX_CHARACTERS = 20_000  # maximum length of an input or output in a step
_MIN_S = 0.05
_MAX_DIALS = 200  # number of host accesses recorded per run


@dataclass(frozen=True)
class CommandResult:
    """The result of a command, with its output as text."""

    sandbox_result: SandboxResult
    stdout: str
    stderr: str

    @property
    def succeeded(self) -> bool:
        return self.sandbox_result.ending == "exited" and self.sandbox_result.exit_code == 0


class Commands:
    """Runs commands one after another; the run's time, output and disk limits apply to all of them together.

    ``last`` is the last command's result, with the CPU time and host accesses of all; None before the first.
    """

    def __init__(self, attempt: AttemptContext, call: Call) -> None:
        self.attempt, self.call = attempt, call
        self.last: SandboxResult | None = None
        self._deadline = time.monotonic() + attempt.limits.timeout_s
        self._output = attempt.limits.output_bytes

    @property
    def seconds_left(self) -> float:
        return max(_MIN_S, self._deadline - time.monotonic())

    def run(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        check_stop: CheckStop | None = None,
        call: Call | None = None,
    ) -> CommandResult:
        """Runs the command within the limits that are left, logs its output and returns the result.

        ``check_stop`` can end the command; by default, the run's cancellation or a lost lease ends it.
        """
        monitor = self.attempt.monitor
        job = sandbox_job(self.attempt, call or self.call)
        job = replace(
            job,
            argv=argv,
            stdin=stdin,
            environment={**job.environment, **(environment or {})},
            limits=self._remaining_limits(),
        )
        result = run_job(self.attempt, job, check_stop or monitor.check_stop)
        self._output = max(0, self._output - len(result.stdout) - len(result.stderr))
        self.last = _merge_results(self.last, result)
        return CommandResult(
            result, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
        )

    def run_call(self, call: Call) -> CommandResult:
        """Runs a prepared call of one of the package's scripts."""
        return self.run(call.argv, stdin=call.stdin, call=call)

    def _remaining_limits(self) -> Any:
        limits = self.attempt.sandbox_limits
        disk, scratch = limits.disk_mb, self.attempt.scratch
        if not (scratch and scratch.mounted):  # the scratch space already limits all commands together
            folders = [self.attempt.folder / name for name in ("output", WORK)]
            used = sum(folder_usage(folder, entries=1 << 20, size=1 << 40).size for folder in folders)
            disk = max(1, limits.disk_mb - (used >> 20))
        return replace(limits, timeout_s=self.seconds_left, output_bytes=max(1, self._output), disk_mb=disk)


def _merge_results(earlier: SandboxResult | None, result: SandboxResult) -> SandboxResult:
    if earlier is None:
        return result
    network = tuple(dict.fromkeys((*earlier.network, *result.network)))[:_MAX_DIALS]
    peak = max(earlier.peak_memory, result.peak_memory)
    return replace(result, cpu_s=earlier.cpu_s + result.cpu_s, peak_memory=peak, network=network)


def command_step(
    command: CommandResult, source: str, *, kind: str, number: int, started_at: float, name: str = ""
) -> StepTrace:
    """The command as a step, with ``source`` as its input; ``started_at`` is in epoch seconds."""
    error = None
    if not command.succeeded:
        error = {
            "name": command.sandbox_result.ending,
            "message": failure_text(command),
            "stack": command.stderr[-_MAX_CHARACTERS:],
        }
    return StepTrace(
        step_id=str(number),
        name=(name or " ".join(source.split()))[:200],
        input=source[:_MAX_CHARACTERS],
        output=command.stdout[:_MAX_CHARACTERS],
        duration_ms=round(command.sandbox_result.duration_s * 1000, 3),
        error=error,
        timestamp=round(started_at * 1000, 3),
        kind=kind,
    )


def failure_text(command: CommandResult) -> str:
    """The reason why a command failed: its exit code, signal or limit."""
    result = command.sandbox_result
    if result.ending != "exited":
        return f"{result.ending} {result.detail}".strip()
    return f"exit code {result.exit_code}" if result.exit_code is not None else f"signal {result.signal}"
