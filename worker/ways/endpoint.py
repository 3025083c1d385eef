"""A service or distributed skill: its declared endpoints are asked in turn, through the one door out.

Nothing of it runs here, so there is no sandbox; what may be asked are the hosts of its network_allowlist.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry import outbound
from registry.outbound.dialling import Clock
from registry.packages.endpoints import is_allowed
from registry.packages.problems import Refused, refuse
from worker import protocols
from worker.protocols.call import Call, Outcome, StepTrace
from worker.protocols.execute_module import failed
from worker.protocols.served import answer_of, asked_bytes
from worker.sandbox.policy import StopReason
from worker.ways.values import Attempted, Result

_TICK_S = 0.1
_NOT_THERE = ("OUTBOUND_FAILED", "OUTBOUND_REFUSED", "OUTBOUND_ADDRESS")
_BUSY = (429, 502, 503, 504)  # it says itself that it has not done the work


@dataclass(frozen=True)
class _Asked:
    """What came of asking one endpoint; ``next_may`` where another one can be asked instead."""

    outcome: Outcome
    step: StepTrace
    next_may: bool = False


def carry_out(attempted: Attempted, call: Call) -> Result:
    """Asks until one endpoint answers for itself; a run's limits of time and output hold for all together."""
    deadline = time.monotonic() + attempted.limits.timeout_s
    with attempted.watch.step("execute"):
        asked = None
        for url in attempted.package.manifest.endpoints:
            asked = _ask(attempted, call, url, deadline - time.monotonic())
            attempted.watch.note(asked.step)
            if not asked.next_may:
                break
    outcome = asked.outcome if asked else failed("ENDPOINT_NOT_ALLOWED", "no endpoint may be asked", {})
    if not outcome.success:
        attempted.watch.mark("execute", outcome.failure_code, outcome.message)
    return Result(outcome)


def _ask(attempted: Attempted, call: Call, url: str, seconds: float) -> _Asked:
    began, begun_ms = time.monotonic(), time.time() * 1000
    exchange = _Exchange(url, asked_bytes(call.request), _headers(attempted), attempted.limits.output_bytes)
    stopped = None
    if not is_allowed(url, attempted.package.manifest.security.network_allowlist):
        shown = outbound.shown(url)
        exchange.refused = refuse("ENDPOINT_NOT_ALLOWED", path="security.network_allowlist", address=shown)
    elif seconds > 0:
        stopped = exchange.wait(attempted, seconds)
    outcome, next_may = _outcome(attempted, call, exchange, stopped)
    step = StepTrace(
        step_id=f"request-{begun_ms:.0f}",
        name=f"POST {outbound.shown(url)}"[:200],
        input={"parameters": dict(call.request.inputs)},
        output=exchange.told,
        duration_ms=round((time.monotonic() - began) * 1000, 3),
        error=None if outcome.success else {"name": outcome.failure_code, "message": outcome.message},
        timestamp=begun_ms,
        kind="request",
    )
    _log(attempted, step, outcome)
    return _Asked(outcome, step, next_may)


@dataclass
class _Exchange:
    """One request in a thread of its own, so that a lease is renewed and a cancel heard meanwhile."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    limit: int
    answer: outbound.Fetched | None = None
    refused: Refused | None = None
    clocks: list[Clock] = field(default_factory=list)

    @property
    def told(self) -> dict[str, int] | None:
        """What a page says of the answer beside what came of it."""
        return {"status": self.answer.status, "bytes": len(self.answer.body)} if self.answer else None

    def wait(self, attempted: Attempted, seconds: float) -> StopReason | None:
        """Returns with the answer, at the deadline, or as soon as the run is to stop; then it says why."""
        thread = threading.Thread(target=self._ask, args=(seconds,), daemon=True, name="endpoint")
        ends = time.monotonic() + seconds
        thread.start()
        while thread.is_alive() and time.monotonic() < ends:
            thread.join(_TICK_S)
            if thread.is_alive() and (stop := attempted.watch.tick()):
                self._hang_up()
                return stop
        self._hang_up()
        return None

    def _ask(self, seconds: float) -> None:
        asked: dict[str, Any] = {"method": "POST", "headers": self.headers, "body": self.body}
        try:
            self.answer = outbound.fetch(
                self.url,
                **asked,
                limit=self.limit,
                timeout=seconds,
                follow=False,  # to a host that nobody allowed
                on_clock=self.clocks.append,
            )
        except Refused as no:
            self.refused = no

    def _hang_up(self) -> None:
        for clock in self.clocks:
            clock.stop()


def _outcome(
    attempted: Attempted, call: Call, exchange: _Exchange, stopped: StopReason | None
) -> tuple[Outcome, bool]:
    """What the exchange came to, and whether the next endpoint may be asked instead."""
    if stopped:
        code = "CANCELLED" if stopped == "cancelled" else "WORKER_LOST"
        return failed(code, "the request was ended", {}), False
    if exchange.refused:
        return _refused(exchange.refused)
    if exchange.answer is None:
        return failed("TIMEOUT", f"no whole answer within {attempted.limits.timeout_s:g} seconds", {}), False
    schema = protocols.output_schema(attempted.package.manifest, call.request)
    outcome = answer_of(call, exchange.answer.status, exchange.answer.body, schema)
    return outcome, exchange.answer.status in _BUSY


def _refused(no: Refused) -> tuple[Outcome, bool]:
    """The door's refusals in the words of runs; what the site or the skill forbids keeps its own code."""
    problem = no.problems[0]
    known = {"OUTBOUND_TIMEOUT": "TIMEOUT", "OUTBOUND_TOO_LARGE": "OUTPUT_LIMIT"}
    code = known.get(problem.code, "EXTERNAL_SERVICE_ERROR")
    if problem.code in ("OUTBOUND_REFUSED", "OUTBOUND_ADDRESS", "ENDPOINT_NOT_ALLOWED"):
        code = problem.code
    details = {"remedy": problem.remedy()}
    next_may = problem.code in (*_NOT_THERE, "ENDPOINT_NOT_ALLOWED")
    return failed(code, problem.message(), details), next_may


def _headers(attempted: Attempted) -> dict[str, str]:
    """The run's id is the key by which endpoints that are asked in turn know a call they had already."""
    return {
        "content-type": "application/json",
        "accept": "application/json",
        "idempotency-key": attempted.claim.uid,
    }


def _log(attempted: Attempted, step: StepTrace, outcome: Outcome) -> None:
    told = f"{step.output['status']}, {step.output['bytes']} bytes" if step.output else outcome.message
    line = f"{step.name} → {told} ({step.duration_ms:.0f} ms)\n"
    attempted.watch.on_output("stderr", line.encode())
