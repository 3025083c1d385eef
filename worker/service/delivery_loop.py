"""The loop that distributes and sends notifications, in its own threads so that no other work waits for
it.
"""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection

from worker.delivery import expand
from worker.delivery.sending.send import Sender, send_due

log = logging.getLogger(__name__)
EVERY_S = 1.0


class DeliveryLoop(threading.Thread):
    """Distributes events and starts due deliveries every second until ``stop``.

    Several loops can run at once.
    """

    def __init__(self) -> None:
        super().__init__(name="delivery", daemon=True)
        self._stopping = threading.Event()
        self._sender = Sender()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            close_old_connections()
            try:
                _expand_all()
                self._sender.start_due()
            except DatabaseError as error:
                log.warning("Notifications will be tried again: %s", error)
            except Exception:  # an error must not end the loop
                log.exception("Notifications failed")
        connection.close()

    def stop(self) -> None:
        """Ends the loop after the current pass, which it awaits for at most ten seconds. Then waits for the
        attempts that are being sent.
        """
        self._stopping.set()
        self.join(timeout=10)
        self._sender.stop()


def deliver_due() -> None:
    """Distributes all recorded events, and sends all due deliveries one after the other."""
    _expand_all()
    send_due()


def _expand_all() -> None:
    while expand.expand_pending():
        continue
