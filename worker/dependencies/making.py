"""One preparation from its claim to its end, in a task of the worker's or within the run that needs it."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable

from django.utils import timezone

from registry.leases import kept
from registry.packages.problems import Refused, problem
from worker.dependencies import queue
from worker.dependencies.building import build
from worker.dependencies.queue import Hold
from worker.sandbox.policy import StopReason, Tick

log = logging.getLogger(__name__)
LONGEST_S = 3600  # of one task


def make_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Makes what waits, one after another, until nothing does or the worker ends."""
    done = 0
    while not is_stopping() and queue.has_room() and (hold := queue.claim_next(timezone.now())):
        make(hold)
        done += 1
    return done


def make(hold: Hold, tick: Tick = lambda: None) -> None:
    """Makes it and says so, or why not; a run that is cancelled meanwhile leaves it to others."""
    with kept(hold.renew, every_s=queue.RENEW_S):
        try:
            hold.succeed(build(hold, _watched(hold, tick)))
        except Refused as no:
            if no.code == "CANCELLED":
                hold.release()
                raise
            hold.fail(no.problems[0])
        except Exception as error:
            log.exception("Preparation %s failed in the portal", hold.row.uid)
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            failed = problem("DEPENDENCIES_FAILED", reason=type(error).__name__)
            hold.fail(problem("DEPENDENCIES_DISK") if is_full else failed)


def _watched(hold: Hold, tick: Tick) -> Tick:
    def watched() -> StopReason | None:
        return tick() or (None if hold.is_held() else "lease_lost")

    return watched
