"""Waking workers. A wake-up carries nothing: whoever gets it claims the oldest runnable run."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)
WAKE = "worker.wake"
WAKE_IMPORTER = "worker.wake_importer"
WAKE_DOCTOR = "worker.wake_doctor"
WAKE_PREPARER = "worker.wake_preparer"


def wake() -> bool:
    """Publishes one wake-up without ever waiting for a broker that is down; the reaper makes up for it."""
    return _send(WAKE)


def wake_importer() -> bool:
    """The same for imports."""
    return _send(WAKE_IMPORTER)


def wake_preparer() -> bool:
    """The same for dependencies that are to be made."""
    return _send(WAKE_PREPARER)


def wake_doctor() -> bool:
    """The same for an examination of the sandbox."""
    return _send(WAKE_DOCTOR)


def _send(task: str) -> bool:
    from worker.celery import app  # Celery is slow to import, and most commands never wake anybody

    try:
        app.send_task(task, retry=False)
    except Exception:  # whatever a broker may raise, what is to be done is safe in the database
        log.warning("No wake-up could be published; the reaper will.", exc_info=True)
        return False
    return True
