"""Ends a worker that no longer starts tasks although runs wait; its supervisor starts it again.

Every five seconds, a worker with an idle slot looks for runs that have been claimable for half a minute. If
there are any, it sends a wake-up. If it then starts no task for half a minute, it is deaf. A worker that
waits for a team's limit, for storage, database or broker, or that stops, does not count as deaf.
"""

import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from celery.worker import state
from django.conf import settings
from django.utils import timezone

from worker.queue import fair_queue
from worker.queue.dispatch import wake

log = logging.getLogger(__name__)
PATIENCE_S = 30.0
_GRACE_S = 10.0


@dataclass
class DeafnessDetector:
    """Detects a worker that starts no task although it should."""

    started: int = 0  # number of started tasks at the last check
    since: float | None = None

    def is_deaf(self, now: float, *, started: int, is_expected: Callable[[], bool]) -> bool:
        """Whether a task was expected for ``PATIENCE_S`` but none started.

        ``now`` is in monotonic seconds; ``started`` counts all tasks that have ever started.
        """
        has_started, self.started = started != self.started, started
        if has_started or not is_expected():
            self.since = None
            return False
        self.since = now if self.since is None else self.since
        return now - self.since >= PATIENCE_S


class DeafnessCheck:
    """The check of this worker process: a thread calls ``look`` every few seconds, then reads ``is_deaf``."""

    def __init__(self, slots: int) -> None:
        self.slots, self.detector, self.is_deaf = slots, DeafnessDetector(), False

    def look(self) -> None:
        """Updates ``is_deaf``: reads the database, and publishes a wake-up if a slot should start a run."""
        self.is_deaf = self.detector.is_deaf(
            time.monotonic(),
            started=state.all_total_count[0],
            is_expected=lambda: self._has_idle_slot() and _has_overdue_runs() and wake(),
        )

    def _has_idle_slot(self) -> bool:
        is_stopping = state.should_stop is not None or state.should_terminate is not None
        return not is_stopping and len(state.active_requests) < self.slots


def _has_overdue_runs() -> bool:
    return fair_queue.claimable_runs(timezone.now() - timedelta(seconds=PATIENCE_S)).exists()


def end_worker() -> None:
    """Stops the worker after its running tasks, and blocks until then; kills it if it does not stop."""
    log.error("Runs wait, but this worker's idle slots get no wake-ups: it ends, to be started again")
    os.kill(os.getpid(), signal.SIGTERM)
    until = time.monotonic() + settings.SKILLQUAY_MAX_RUN_SECONDS
    while state.active_requests and time.monotonic() < until:
        time.sleep(1)
    time.sleep(_GRACE_S)
    os.kill(os.getpid(), signal.SIGKILL)
