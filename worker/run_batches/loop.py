"""The thread that processes run batches, so that no other loop waits for them."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection

from worker.core import clock
from worker.run_batches import steps

log = logging.getLogger(__name__)
EVERY_S = 1.0


class RunBatchLoop(threading.Thread):
    """Processes batches until ``stop``. Several loops can run at once."""

    def __init__(self) -> None:
        super().__init__(name="run batches", daemon=True)
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            close_old_connections()
            try:
                process_all(self._stopping)
            except DatabaseError as error:
                log.warning("Run batches will be tried again: %s", error)
            except Exception:  # the loop must survive
                log.exception("A run batch failed")
        connection.close()

    def stop(self) -> None:
        """Ends the loop after its current step; waits for this at most ten seconds."""
        self._stopping.set()
        self.join(timeout=10)


def process_all(stopping: threading.Event | None = None) -> None:
    """Processes batches until none is left, the storage does not answer, or ``stopping`` is set."""
    stop = stopping or threading.Event()
    while not stop.is_set() and steps.process_next(clock.now()):
        pass
