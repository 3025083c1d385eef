"""Beside a running script: its log and progress into the database, its lease renewed, its cancel heard."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from worker import protocols, recording
from worker.protocols.call import StepTrace
from worker.recording import LogBuffer, Piece
from worker.sandbox.policy import StopReason, Stream
from worker.states import Claim, heartbeat, renew
from worker.storable import clean_text, is_heavy

log = logging.getLogger(__name__)
_HEARTBEAT_S = 0.5
_WRITE_S = 0.25  # at most four writes a second; a run that is shorter writes only its end
_LONGEST_LINE = 4096  # bytes of a stderr line that are looked at for progress


class Supervision:
    """The attempt as the worker sees it while the sandbox runs; called from the sandbox's reading loop."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.log = LogBuffer()
        self.steps: list[dict[str, Any]] = []
        self.progress: int | None = None
        self.noted = 0  # of the run's own steps, those that are in the database
        self.lost = False
        now = time.monotonic()
        self._renewed_at = self._heard_at = self._wrote_at = now
        self._unwritten: list[Piece] = []
        self._own: list[StepTrace] = []
        self._changed = False
        self._line = bytearray()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """One of the platform's own steps, with when it began (epoch ms) and how long it took (ms)."""
        begun = time.perf_counter()
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
            step["duration_ms"] = round((time.perf_counter() - begun) * 1000, 3)

    def mark(self, name: str, code: str, message: str) -> None:
        """A step that went well for the portal and failed for the skill."""
        for step in self.steps:
            if step["name"] == name:
                step.update(status="failed", error={"name": code, "message": message[:1000]})

    def note(self, step: StepTrace) -> None:
        """One of the run's own steps as it has happened: who watches sees it before the run has ended."""
        if is_heavy([step.input, step.output]):
            step = replace(step, input=None, output=None)
        self._own.append(step)
        self._changed = True

    def say(self, line: str) -> None:
        """A line of the portal's own in the run's log."""
        self.log.add("stderr", f"{clean_text(line)}\n".encode())
        self._changed = True

    def on_output(self, stream: Stream, data: bytes) -> None:
        self.log.add(stream, data)
        self._changed = True
        if stream == "stderr":
            self._look_for_progress(data)

    def _look_for_progress(self, data: bytes) -> None:
        if b"%" not in data and not self._line:
            self._line[:] = b"" if data.endswith((b"\n", b"\r")) else data[-_LONGEST_LINE:]
            return
        *lines, rest = (bytes(self._line) + data).replace(b"\r", b"\n").split(b"\n")
        self._line[:] = rest[-_LONGEST_LINE:]
        for line in lines:
            percent = (
                protocols.progress_of(line[:_LONGEST_LINE].decode("utf-8", "replace"))
                if b"%" in line
                else None
            )
            if percent is not None:
                self.progress = percent

    def tick(self) -> StopReason | None:
        """Says when the script is to stop: its lease is lost, or somebody cancelled it."""
        now = time.monotonic()
        try:
            return self._tick(now)
        except DatabaseError:
            log.warning("Run %s: the database does not answer", self.claim.uid, exc_info=True)
            close_old_connections()  # else what a restart has cut fails until the lease has run out
            self.lost = now - self._renewed_at > settings.SKILLQUAY_LEASE_SECONDS
            return "lease_lost" if self.lost else None

    def _tick(self, now: float) -> StopReason | None:
        if self._changed and now - self._wrote_at >= _WRITE_S:
            self._wrote_at = now
            self._write()
        if now - self._renewed_at >= settings.SKILLQUAY_LEASE_SECONDS / 3:
            self.lost = self.lost or not renew(self.claim)
            self._renewed_at = now
        if self._hear(now) and not self.lost:
            return "cancelled"
        return "lease_lost" if self.lost else None

    def is_cancelled(self) -> bool:
        """Asked once more at the end, where it is a while since that was heard."""
        try:
            return self._hear(time.monotonic()) and not self.lost
        except DatabaseError:
            close_old_connections()
            return False

    def _hear(self, now: float) -> bool:
        if now - self._heard_at < _HEARTBEAT_S:
            return False
        self._heard_at = now
        state = heartbeat(self.claim)
        self.lost = self.lost or not state.held
        return state.cancel

    def _write(self) -> None:
        self._unwritten += self.log.take(final=False)
        held = recording.write_live(
            self.claim,
            self._unwritten,
            progress=self.progress,
            size=self.log.size,
            steps=self.steps,
            own=self._own,
            first=self.noted,
        )
        self.noted += len(self._own)
        self._unwritten, self._own, self._changed = [], [], False
        self.lost = self.lost or not held

    def rest_of_log(self) -> list[Piece]:
        """What is not in the database yet, for the finish."""
        return [*self._unwritten, *self.log.take(final=True)]

    def rest_of_steps(self) -> list[StepTrace]:
        """Those of the run's own steps that are not in the database yet."""
        return self._own
