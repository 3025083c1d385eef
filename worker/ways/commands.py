"""Commands of a prompt or of an agent loop: each in a sandbox of its own, all within one run's limits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from worker.protocols.call import Call, StepTrace
from worker.sandbox.policy import Ended, Tick
from worker.sandbox.watchdog import folder_usage
from worker.ways.script import job_of, start
from worker.ways.values import Attempted

SKILL_DIR = "/skill"
_SHOWN = 20_000  # characters of an output that a step keeps
_LEAST_S = 0.05
_DIALS = 200  # decisions about hosts that are kept of a run


@dataclass(frozen=True)
class Said:
    """What a command came to, its output as text."""

    ended: Ended
    stdout: str
    stderr: str

    @property
    def went_well(self) -> bool:
        return self.ended.ending == "exited" and self.ended.exit_code == 0


class Commands:
    """Runs one command after the other; time, output and disk are counted together.

    ``last`` is the last one's end, with the CPU time and the hosts of all.
    """

    def __init__(self, attempted: Attempted, call: Call) -> None:
        self.attempted, self.call = attempted, call
        self.last: Ended | None = None
        self._ends = time.monotonic() + attempted.limits.timeout_s
        self._output = attempted.limits.output_bytes

    @property
    def seconds_left(self) -> float:
        return max(_LEAST_S, self._ends - time.monotonic())

    def run(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        tick: Tick | None = None,
        call: Call | None = None,
    ) -> Said:
        """The command to its end, its output in the run's log; the run's word and its lease are heard."""
        watch = self.attempted.watch
        order = job_of(self.attempted, call or self.call)
        order = replace(
            order,
            argv=argv,
            stdin=stdin,
            environment={**order.environment, **(environment or {})},
            limits=self._left(),
        )
        ended = start(self.attempted, order, tick or watch.tick)
        self._output = max(0, self._output - len(ended.stdout) - len(ended.stderr))
        self.last = _after(self.last, ended)
        return Said(ended, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace"))

    def run_call(self, call: Call) -> Said:
        """One of the package's own scripts, prepared as any call of it is."""
        return self.run(call.argv, stdin=call.stdin, call=call)

    def _left(self) -> Any:
        limits = self.attempted.limits
        used = folder_usage(self.attempted.folder / "output", entries=1 << 20, size=1 << 40)
        disk = max(1, limits.disk_mb - (used.size >> 20))
        return replace(limits, timeout_s=self.seconds_left, output_bytes=max(1, self._output), disk_mb=disk)


def _after(earlier: Ended | None, ended: Ended) -> Ended:
    if earlier is None:
        return ended
    network = tuple(dict.fromkeys((*earlier.network, *ended.network)))[:_DIALS]
    return replace(ended, cpu_s=earlier.cpu_s + ended.cpu_s, network=network)


def step_of(said: Said, written: str, *, kind: str, number: int, begun: float, name: str = "") -> StepTrace:
    """The command as a step: what was asked, what it said, how it ended; ``begun`` in epoch seconds."""
    error = None
    if not said.went_well:
        error = {"name": said.ended.ending, "message": how(said), "stack": said.stderr[-_SHOWN:]}
    return StepTrace(
        step_id=str(number),
        name=(name or " ".join(written.split()))[:200],
        input=written[:_SHOWN],
        output=said.stdout[:_SHOWN],
        duration_ms=round(said.ended.duration_s * 1000, 3),
        error=error,
        timestamp=round(begun * 1000, 3),
        kind=kind,
    )


def how(said: Said) -> str:
    """How a command ended that did not go well."""
    ended = said.ended
    if ended.ending != "exited":
        return f"{ended.ending} {ended.detail}".strip()
    return f"exit code {ended.exit_code}" if ended.exit_code is not None else f"signal {ended.signal}"
