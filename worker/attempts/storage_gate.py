"""The storage gate: while the storage can't be reached, this process claims no runs."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from registry.packages.problems import Refusal
from registry.storage import blobs

log = logging.getLogger(__name__)
_POLL_S = 1.0
_lost = False


class ServicesUnavailable(Exception):
    """Raised if the storage or the database can't be reached and no part of the run was executed yet."""


@contextmanager
def before_start() -> Iterator[None]:
    """Context manager that raises ServicesUnavailable for failures of the storage or database.

    The caller can then requeue the run. A storage failure also closes the gate.
    """
    try:
        yield
    except DatabaseError as error:
        raise ServicesUnavailable from error
    except Refusal as error:
        if not close_if_lost(error):
            raise
        raise ServicesUnavailable from error


def close_if_lost(error: Refusal) -> bool:
    """Closes the gate and returns True if the error means that the storage can't be reached.

    Otherwise returns False. A missing blob counts only if the storage does not answer.
    """
    global _lost
    is_lost = blobs.is_lost(error)
    if is_lost and not _lost:
        log.error("The storage can't be reached; this process claims no runs until it answers")
    _lost = _lost or is_lost
    return is_lost


def wait_until_open(is_stopping: Callable[[], object], *, seconds: float) -> bool:
    """Waits while the gate is closed, at most ``seconds`` or until ``is_stopping`` returns a true value.

    Opens the gate when the storage answers. Returns whether the gate is open.
    """
    global _lost
    until = time.monotonic() + seconds
    while _lost and not is_stopping():
        if blobs.is_reachable():
            log.warning("The storage answers again")
            _lost = False
        elif time.monotonic() > until:
            break
        else:
            time.sleep(_POLL_S)
    return not _lost
