"""Whether this process can reach the site's storage: while it can't, it gives runs back and claims none."""

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
    """Raises ServicesUnavailable for errors of storage and database: the run can be given back."""
    try:
        yield
    except DatabaseError as error:
        raise ServicesUnavailable from error
    except Refusal as error:
        if not is_storage_lost(error):
            raise
        raise ServicesUnavailable from error


def is_storage_lost(error: Refusal) -> bool:
    """Whether the storage can't be reached, rather than the one blob is missing; then the gate closes."""
    global _lost
    is_lost = error.code == UNAVAILABLE.name or (error.code == BLOB_MISSING.name and not blobs.is_reachable())
    if is_lost and not _lost:
        log.error("The storage can't be reached; this process claims no runs until it answers")
    _lost = _lost or is_lost
    return is_lost


def wait_until_open(is_stopping: Callable[[], object], *, seconds: float) -> bool:
    """Waits for a lost storage to answer; returns False after that time, or when stopping."""
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
