"""The loop that distributes notifications, in its own thread so that no other work waits for it."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection

from worker.delivery import expand

log = logging.getLogger(__name__)
EVERY_S = 1.0


class DeliveryLoop(threading.Thread):
    """Distributes events every second until ``stop``. Several loops can run at once."""

    def __init__(self) -> None:
        super().__init__(name="delivery", daemon=True)
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            close_old_connections()
            try:
                deliver_due()
            except DatabaseError as error:
                log.warning("Notifications will be tried again: %s", error)
            except Exception:  # an error must not end the loop
                log.exception("Notifications failed")
        connection.close()

    def stop(self) -> None:
        """Ends the loop after the current pass, and waits for it."""
        self._stopping.set()
        self.join(timeout=10)


def deliver_due() -> None:
    """Distributes all recorded events."""
    while expand.expand_pending():
        continue
