"""Tracks whether this process can reach the storage; if not, it requeues its runs and claims none."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from registry.core.errors import UNAVAILABLE
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.storage.errors import BLOB_MISSING

log = logging.getLogger(__name__)
_POLL_S = 1.0
_lost = False


class ServicesUnavailable(Exception):
    """Storage or database can't be reached, and nothing of the run was executed yet."""


@contextmanager
def before_start() -> Iterator[None]:
    """A context manager: if storage or database fails, raises ServicesUnavailable to requeue the run."""
    try:
        yield
    except DatabaseError as error:
        raise ServicesUnavailable from error
    except Refusal as error:
        if not is_storage_lost(error):
            raise
        raise ServicesUnavailable from error


def is_storage_lost(error: Refusal) -> bool:
    """Whether the storage is unreachable, rather than one blob missing. If so, closes the gate."""
    global _lost
    is_lost = error.code == UNAVAILABLE.name or (error.code == BLOB_MISSING.name and not blobs.is_reachable())
    if is_lost and not _lost:
        log.error("The storage can't be reached; this process claims no runs until it answers")
    _lost = _lost or is_lost
    return is_lost


def wait_until_open(is_stopping: Callable[[], object], *, seconds: float) -> bool:
    """Waits until storage answers, the time is over or the worker stops; returns whether storage answers."""
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
