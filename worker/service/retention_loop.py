"""The loop that counts ended runs per day and removes old runs, in its own thread next to the reaper's."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection

from worker.core import clock
from worker.daily_runs import roll_up
from worker.retention import remove

log = logging.getLogger(__name__)
EVERY_S = 30.0


class RetentionLoop(threading.Thread):
    """Counts runs every 30 seconds, and runs a removal pass when one is due, until ``stop``.

    Several loops can run at once: one of them holds the lease of the pass.
    """

    def __init__(self) -> None:
        super().__init__(name="retention", daemon=True)
        self._stopping = threading.Event()
        self._clock_jumps = clock.ClockJumpDetector()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            close_old_connections()
            try:
                if self._clock_jumps.is_reliable(clock.now()):  # with a wrong clock, new runs may seem old
                    count_and_remove(self._stopping)
            except DatabaseError as error:
                log.warning("Retention will be tried again: %s", error)
            except Exception:  # an error must not end the loop
                log.exception("Retention failed")
        connection.close()

    def stop(self) -> None:
        """Ends the loop after the current batch; waits for this at most ten seconds."""
        self._stopping.set()
        self.join(timeout=10)


def count_and_remove(stopping: threading.Event | None = None) -> None:
    """Counts all ended runs, then runs the pass that is due. Both stop early once ``stopping`` is set."""
    stop = stopping or threading.Event()
    roll_up.roll_up_all(stop.is_set)
    if not stop.is_set():
        remove.run_pass(wait=stop.wait)
