"""Watches a running attempt: stores its log and progress, renews its lease and polls for cancellation."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from worker.attempts import recording
from worker.attempts.recording import LogBuffer, LogPiece
from worker.core.display_budget import MAX_MEMORY, memory_of
from worker.core.storable import clean_text
from worker.protocols.call import StepTrace
from worker.protocols.formats import progress as protocols_progress
from worker.queue.claims import Claim, heartbeat, renew
from worker.sandbox.policy import StopReason, Stream

log = logging.getLogger(__name__)
_HEARTBEAT_S = 0.5
_WRITE_S = 0.25  # at most four writes per second; shorter runs write once, at the end
_MAX_LINE_BYTES = 4096  # length of a stderr line that is searched for progress


class AttemptMonitor:
    """Collects an attempt's log, steps and progress; ``check_stop`` stores them while the sandbox runs."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.log = LogBuffer()
        self.steps: list[dict[str, Any]] = []
        self.progress: int | None = None
        self.stored_steps = 0  # number of the skill's steps that are in the database
        self.lost = False
        now = time.monotonic()
        self._renewed_at = self._polled_at = self._written_at = now
        self._unwritten: list[LogPiece] = []
        self._pending_steps: list[StepTrace] = []
        self._changed = False
        self._line = bytearray()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Context manager that records a platform step with its start (epoch ms), duration (ms) and error."""
        started_at = time.perf_counter()
        step: dict[str, Any] = {"name": name, "status": "running", "error": None, "duration_ms": None}
        step["started_at"] = round(time.time() * 1000, 3)
        self.steps.append(step)
        try:
            yield
        except Exception as error:
            step["status"] = "failed"
            step["error"] = {
                "name": getattr(error, "code", type(error).__name__),
                "message": str(error)[:1000],
            }
            raise
        else:
            step["status"] = "succeeded"
        finally:
            step["duration_ms"] = round((time.perf_counter() - started_at) * 1000, 3)

    def fail_step(self, name: str, code: str, message: str) -> None:
        """Marks a platform step as failed when the skill, not the platform, failed during it."""
        for step in self.steps:
            if step["name"] == name:
                step.update(status="failed", error={"name": code, "message": message[:1000]})

    def add_step(self, step: StepTrace) -> None:
        """Adds a step of the skill for the next write; drops its input and output if they are too large."""
        if memory_of([step.input, step.output], limit=MAX_MEMORY) > MAX_MEMORY:
            step = replace(step, input=None, output=None)
        self._pending_steps.append(step)
        self._changed = True

    def write_log(self, line: str) -> None:
        """Adds a line of the platform to the run's log, as stderr; the next write stores it."""
        self.log.add("stderr", f"{clean_text(line)}\n".encode())
        self._changed = True

    def on_output(self, stream: Stream, data: bytes) -> None:
        self.log.add(stream, data)
        self._changed = True
        if stream == "stderr":
            self._parse_progress(data)

    def _parse_progress(self, data: bytes) -> None:
        if b"%" not in data and not self._line:
            self._line[:] = b"" if data.endswith((b"\n", b"\r")) else data[-_MAX_LINE_BYTES:]
            return
        *lines, rest = (bytes(self._line) + data).replace(b"\r", b"\n").split(b"\n")
        self._line[:] = rest[-_MAX_LINE_BYTES:]
        for line in lines:
            percent = (
                protocols_progress.parse_progress(line[:_MAX_LINE_BYTES].decode("utf-8", "replace"))
                if b"%" in line
                else None
            )
            if percent is not None:
                self.progress = percent

    def check_stop(self) -> StopReason | None:
        """Returns why the script must stop (lease lost or run cancelled); None to continue.

        Also stores new log, steps and progress and renews the lease, each when it is due. While the database
        does not answer, returns None until the lease time since the last renewal is over.
        """
        now = time.monotonic()
        try:
            return self._check_stop(now)
        except DatabaseError:
            log.warning("Run %s: the database does not answer", self.claim.uid, exc_info=True)
            close_old_connections()  # otherwise every query on a cut connection fails until the lease ends
            self.lost = now - self._renewed_at > settings.SKILLQUAY_LEASE_SECONDS
            return "lease_lost" if self.lost else None

    def _check_stop(self, now: float) -> StopReason | None:
        if self._changed and now - self._written_at >= _WRITE_S:
            self._written_at = now
            self._write()
        if now - self._renewed_at >= settings.SKILLQUAY_LEASE_SECONDS / 3:
            self.lost = self.lost or not renew(self.claim)
            self._renewed_at = now
        if self._poll_row(now) and not self.lost:
            return "cancelled"
        return "lease_lost" if self.lost else None

    def is_cancelled(self) -> bool:
        """Whether the run was cancelled; False if the lease or the database is lost.

        Polls at most every half second, and returns False in between.
        """
        try:
            return self._poll_row(time.monotonic()) and not self.lost
        except DatabaseError:
            close_old_connections()
            return False

    def _poll_row(self, now: float) -> bool:
        if now - self._polled_at < _HEARTBEAT_S:
            return False
        self._polled_at = now
        state = heartbeat(self.claim)
        self.lost = self.lost or not state.held
        return state.cancel

    def _write(self) -> None:
        self._unwritten += self.log.take(final=False)
        is_held = recording.write_live(
            self.claim,
            self._unwritten,
            progress=self.progress,
            size=self.log.size,
            steps=self.steps,
            skill_steps=self._pending_steps,
            first_seq=self.stored_steps,
        )
        self.stored_steps += len(self._pending_steps)
        self._unwritten, self._pending_steps, self._changed = [], [], False
        self.lost = self.lost or not is_held

    def pending_log(self) -> list[LogPiece]:
        """The log pieces that are not in the database yet. Empties the buffer: call this once, at the end."""
        return [*self._unwritten, *self.log.take(final=True)]

    def pending_steps(self) -> list[StepTrace]:
        """The skill's steps that are not in the database yet."""
        return self._pending_steps
