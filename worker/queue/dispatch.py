"""Wakes workers. A wake-up carries no data: a worker that receives it looks for the next work of this
kind.
"""

import logging
from contextlib import suppress

from kombu.exceptions import OperationalError

from registry.core.hooks import Hook

log = logging.getLogger(__name__)
WAKE = "worker.wake"
WAKE_IMPORTER = "worker.wake_importer"
WAKE_DOCTOR = "worker.wake_doctor"
WAKE_BUILDER = "worker.wake_preparer"
WAKE_PARSER_READER = "worker.wake_parser_reader"


def wake() -> bool:
    """Publishes one wake-up. Returns False at once if the broker is down; the reaper publishes it later."""
    return _send(WAKE)


def wake_importer() -> bool:
    return _send(WAKE_IMPORTER)


def wake_builder() -> bool:
    return _send(WAKE_BUILDER)


def wake_doctor() -> bool:
    return _send(WAKE_DOCTOR)


def wake_parser_reader() -> bool:
    return _send(WAKE_PARSER_READER)


def count_waiting() -> int | None:
    """The number of wake-ups that no worker has fetched; None if the broker is down."""
    with suppress(Exception):  # a broker may raise any exception
        return sum(message_counter.send())
    return None


task_sender: Hook[[str], object] = Hook()
message_counter: Hook[[], int] = Hook()


def _send(task: str) -> bool:
    try:
        task_sender.send(task)
    except Exception as error:  # a broker may raise any exception; the work is stored in the database
        is_away = isinstance(error, OSError | OperationalError)
        log.warning("No worker could be woken; the reaper will do it: %s", error, exc_info=not is_away)
        return False
    return True
