"""The loop that starts scheduled runs, in its own thread so that a slow pass of the reaper does
not delay it.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime

from django.db import DatabaseError, close_old_connections, connection

from worker.core import clock
from worker.schedules import fire, plan

log = logging.getLogger(__name__)
EVERY_S = 1.0
_CHECK_EVERY_S = 10.0


class ScheduleLoop(threading.Thread):
    """Plans and starts scheduled runs every second until ``stop``.

    Several loops can run at once, because a lease on each firing and its unique due time prevent a second
    run.
    """

    def __init__(self) -> None:
        super().__init__(name="schedules", daemon=True)
        self._stopping = threading.Event()
        self._clock_jumps = clock.ClockJumpDetector()
        self._checked_at = 0.0

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            close_old_connections()
            try:
                self._tick()
            except DatabaseError as error:
                log.warning("Scheduled runs will be tried again: %s", error)
            except Exception:  # an error must not end the loop, because other schedules are due
                log.exception("A scheduled run failed to start")
        connection.close()

    def stop(self) -> None:
        """Ends the loop after the current pass; waits for this at most ten seconds."""
        self._stopping.set()
        self.join(timeout=10)

    def _tick(self) -> None:
        now = clock.now()
        if self._clock_jumps.is_reliable(now):  # with a wrong clock, due times may only seem to be missed
            fire_due(now, is_check_due=self._is_check_due())

    def _is_check_due(self) -> bool:
        is_due = time.monotonic() - self._checked_at > _CHECK_EVERY_S
        if is_due:
            self._checked_at = time.monotonic()
        return is_due


def fire_due(now: datetime, *, is_check_due: bool = True) -> None:
    """Plans and starts the scheduled runs that are due at ``now``. If ``is_check_due``, first pauses
    schedules that can no longer run.
    """
    if is_check_due:
        plan.pause_unusable(now)
    plan.plan_due(now)
    fire.fire_pending(now)
