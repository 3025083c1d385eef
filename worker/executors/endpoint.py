"""Executes a service or distributed skill: calls its endpoints in order, through the outbound HTTP client.

No code of the skill runs on this machine, so there is no sandbox. Calls only hosts in the skill's
``network_allowlist``.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.http_client import errors as http_errors
from registry.http_client import fetch as outbound
from registry.http_client.connection import Deadline
from registry.packages.manifest.endpoints import is_allowed
from registry.packages.problems import Refusal
from worker.attempts.context import AttemptContext, AttemptResult
from worker.core.errors import CANCELLED, WORKER_LOST
from worker.protocols.call import Call, Outcome, StepTrace
from worker.protocols.errors import ENDPOINT_NOT_ALLOWED, EXTERNAL_SERVICE_ERROR, OUTPUT_LIMIT, TIMEOUT
from worker.protocols.formats import abp
from worker.protocols.formats.endpoint import parse_answer, request_bytes
from worker.protocols.formats.execute_module import failed_outcome
from worker.sandbox.policy import StopReason

_TICK_S = 0.1
_UNREACHABLE = (
    http_errors.OUTBOUND_FAILED.name,
    http_errors.OUTBOUND_REFUSED.name,
    http_errors.OUTBOUND_ADDRESS.name,
)
_BUSY = (429, 502, 503, 504)  # statuses that mean that the server has not done the work


@dataclass(frozen=True)
class _EndpointResult:
    """The result of calling one endpoint; ``try_next`` is True if the next endpoint can be called instead."""

    outcome: Outcome
    step: StepTrace
    try_next: bool = False


def execute(attempt: AttemptContext, call: Call) -> AttemptResult:
    """Calls endpoints until one has a final answer; the run's time limit applies to all calls together."""
    deadline = time.monotonic() + attempt.limits.timeout_s
    with attempt.monitor.step("execute"):
        result = None
        for url in attempt.package.manifest.endpoints:
            result = _call_endpoint(attempt, call, url, deadline - time.monotonic())
            attempt.monitor.add_step(result.step)
            if not result.try_next:
                break
    outcome = (
        result.outcome
        if result
        else failed_outcome(ENDPOINT_NOT_ALLOWED.name, "the skill lists no endpoint that the site allows", {})
    )
    if not outcome.success:
        attempt.monitor.fail_step("execute", outcome.failure_code, outcome.message)
    return AttemptResult(outcome)


def _call_endpoint(attempt: AttemptContext, call: Call, url: str, seconds: float) -> _EndpointResult:
    began, begun_ms = time.monotonic(), time.time() * 1000
    exchange = _Exchange(url, request_bytes(call.request), _headers(attempt), attempt.limits.output_bytes)
    stop_reason = None
    if not is_allowed(url, attempt.package.manifest.security.network_allowlist):
        printable_url = outbound.redact_url(url)
        exchange.refused = ENDPOINT_NOT_ALLOWED.refusal(address=printable_url).at(
            "security.network_allowlist"
        )
    elif seconds > 0:
        stop_reason = exchange.wait(attempt, seconds)
    outcome, try_next = _outcome(attempt, call, exchange, stop_reason)
    step = StepTrace(
        step_id=f"request-{begun_ms:.0f}",
        name=f"POST {outbound.redact_url(url)}"[:200],
        input={"parameters": dict(call.request.inputs)},
        output=exchange.summary,
        duration_ms=round((time.monotonic() - began) * 1000, 3),
        error=None if outcome.success else {"name": outcome.failure_code, "message": outcome.message},
        timestamp=begun_ms,
        kind="request",
    )
    _log(attempt, step, outcome)
    return _EndpointResult(outcome, step, try_next)


@dataclass
class _Exchange:
    """One request in its own thread, so that the lease is renewed and cancellation polled meanwhile."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    limit: int
    answer: outbound.FetchResponse | None = None
    refused: Refusal | None = None
    deadlines: list[Deadline] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, int] | None:
        """Status and size of the answer, for the step; None if there is no answer."""
        return {"status": self.answer.status, "bytes": len(self.answer.body)} if self.answer else None

    def wait(self, attempt: AttemptContext, seconds: float) -> StopReason | None:
        """Sends the request and waits at most ``seconds`` for the answer.

        Returns a reason as soon as the run must stop; None after an answer, a refusal or the deadline.
        """
        thread = threading.Thread(target=self._send, args=(seconds,), daemon=True, name="endpoint")
        ends = time.monotonic() + seconds
        thread.start()
        while thread.is_alive() and time.monotonic() < ends:
            thread.join(_TICK_S)
            if thread.is_alive() and (stop := attempt.monitor.check_stop()):
                self._stop()
                return stop
        self._stop()
        return None

    def _send(self, seconds: float) -> None:
        options: dict[str, Any] = {"method": "POST", "headers": self.headers, "body": self.body}
        try:
            self.answer = outbound.fetch(
                self.url,
                **options,
                limit=self.limit,
                timeout=seconds,
                follow=False,  # not followed: a redirect could lead to a host that is not allowed
                on_deadline=self.deadlines.append,
            )
        except Refusal as error:
            self.refused = error

    def _stop(self) -> None:
        for clock in self.deadlines:
            clock.stop()


def _outcome(
    attempt: AttemptContext, call: Call, exchange: _Exchange, stop_reason: StopReason | None
) -> tuple[Outcome, bool]:
    """The outcome, and whether to call the next endpoint if there is one."""
    if stop_reason:
        code = CANCELLED.name if stop_reason == "cancelled" else WORKER_LOST.name
        return failed_outcome(code, "the request was ended", {}), False
    if exchange.refused:
        return _refused_outcome(exchange.refused)
    if exchange.answer is None:
        return failed_outcome(
            TIMEOUT.name, f"no whole answer within {attempt.limits.timeout_s:g} seconds", {}
        ), False
    schema = abp.output_schema(attempt.package.manifest, call.request)
    outcome = parse_answer(call, exchange.answer.status, exchange.answer.body, schema)
    return outcome, exchange.answer.status in _BUSY


def _refused_outcome(error: Refusal) -> tuple[Outcome, bool]:
    """Returns the same pair as ``_outcome``, for a refused request. Forbidden hosts and addresses keep their
    error code.
    """
    problem = error.problems[0]
    known = {
        http_errors.OUTBOUND_TIMEOUT.name: TIMEOUT.name,
        http_errors.OUTBOUND_TOO_LARGE.name: OUTPUT_LIMIT.name,
    }
    code = known.get(problem.code, EXTERNAL_SERVICE_ERROR.name)
    if problem.code in (
        http_errors.OUTBOUND_REFUSED.name,
        http_errors.OUTBOUND_ADDRESS.name,
        ENDPOINT_NOT_ALLOWED.name,
    ):
        code = problem.code
    details = {"remedy": problem.remedy()}
    try_next = problem.code in (*_UNREACHABLE, ENDPOINT_NOT_ALLOWED.name)
    return failed_outcome(code, problem.message(), details), try_next


def _headers(attempt: AttemptContext) -> dict[str, str]:
    """The request's headers; the run's uid lets endpoints recognize a repeated call."""
    return {
        "content-type": "application/json",
        "accept": "application/json",
        "idempotency-key": attempt.claim.uid,
    }


def _log(attempt: AttemptContext, step: StepTrace, outcome: Outcome) -> None:
    summary = f"{step.output['status']}, {step.output['bytes']} bytes" if step.output else outcome.message
    line = f"{step.name} → {summary} ({step.duration_ms:.0f} ms)\n"
    attempt.monitor.on_output("stderr", line.encode())
