"""Imports in the worker: one after another, so that runs keep the slots."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.utils import timezone

from registry.imports import engine, queue
from registry.imports.queue import Hold
from registry.packages.problems import Refused

LONGEST_S = 3600  # of one task; what is not done by then is taken up again by the next


def import_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Imports until nothing waits, the worker ends, or others hold the slots that imports may have."""
    done = 0
    while not is_stopping() and _has_room() and (hold := queue.claim_next(timezone.now())):
        _import(hold)
        done += 1
    return done


def _import(hold: Hold) -> None:
    try:
        actor = queue.actor_of(hold)
    except Refused as refused:
        hold.finish(*refused.problems)
    else:
        engine.run(hold, actor)


def ask_for_due() -> None:
    """Asks for the imports whose interval is over."""
    queue.request_due(timezone.now())


def is_missed() -> bool:
    """Whether an import waits that somebody could begin."""
    return queue.waiting(timezone.now()) and _has_room()


def _has_room() -> bool:
    """One slot of a host's is always left to runs, unless it has only one."""
    return queue.running(timezone.now()) < max(1, settings.SKILLQUAY_WORKERS - 1)
