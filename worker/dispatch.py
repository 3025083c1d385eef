"""Waking workers. A wake-up carries nothing: whoever gets it claims the oldest runnable run."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)
WAKE = "worker.wake"


def wake() -> bool:
    """Publishes one wake-up without ever waiting for a broker that is down; the reaper makes up for it."""
    from worker.celery import app  # Celery is slow to import, and most commands never wake anybody

    try:
        app.send_task(WAKE, retry=False)
    except Exception:  # whatever a broker may raise, the run is safe in the database
        log.warning("No wake-up could be published; the reaper will.", exc_info=True)
        return False
    return True
