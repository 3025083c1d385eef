"""Runs waiting imports in the worker, and limits how many run at the same time, so that runs keep slots."""

from collections.abc import Callable

from django.conf import settings
from django.utils import timezone

from registry.imports import queue, run_import
from registry.imports.queue import ImportLease
from registry.packages.problems import Refusal
from worker.attempts import storage_gate

MAX_TASK_S = 3600  # time limit of one task; the next task continues unfinished imports


def import_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Runs imports until none waits, the worker stops, no slot is free or the storage fails; returns their
    number.
    """
    done = 0
    while not is_stopping() and _has_free_slot() and (lease := queue.claim_next(timezone.now())):
        if not _import(lease):
            break
        done += 1
    return done


def _import(lease: ImportLease) -> bool:
    """Runs the import; returns False if it went back to the queue because the storage can't be reached."""
    try:
        run_import.run_import(lease, queue.requesting_actor(lease))
    except Refusal as refused:
        if storage_gate.close_if_lost(refused):
            lease.requeue()
            return False
        lease.end(*refused.problems)
    return True


def request_due() -> None:
    """Requests an import of each source that is due, unless one is under way."""
    queue.request_due_imports(timezone.now())


def has_claimable() -> bool:
    """Whether a slot is free and an import waits for one."""
    return queue.has_claimable(timezone.now()) and _has_free_slot()


def _has_free_slot() -> bool:
    """Whether an import may start.

    The site runs at most SKILLQUAY_WORKERS - 1 imports at a time, but always at least one.
    """
    return queue.count_running(timezone.now()) < max(1, settings.SKILLQUAY_WORKERS - 1)
