"""Runs imports in the worker, one after another, so that runs keep their slots."""

from collections.abc import Callable

from django.conf import settings
from django.utils import timezone

from registry.imports import queue, run_import
from registry.imports.queue import ImportLease
from registry.packages.problems import Refusal

MAX_TASK_S = 3600  # of one task; the next one continues unfinished imports


def import_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Imports until nothing waits, the worker stops, or no slot for imports is free; returns how many."""
    done = 0
    while not is_stopping() and _has_free_slot() and (lease := queue.claim_next(timezone.now())):
        _import(lease)
        done += 1
    return done


def _import(lease: ImportLease) -> None:
    try:
        actor = queue.requesting_actor(lease)
    except Refusal as refused:
        lease.end(*refused.problems)
    else:
        run_import.run_import(lease, actor)


def request_due() -> None:
    """Requests the imports whose interval has passed."""
    queue.request_due_imports(timezone.now())


def has_claimable() -> bool:
    """Whether a slot is free and an import waits for one."""
    return queue.has_claimable(timezone.now()) and _has_free_slot()


def _has_free_slot() -> bool:
    """Whether an import may start. The site runs one fewer than this host has slots, but at least one."""
    return queue.count_running(timezone.now()) < max(1, settings.SKILLQUAY_WORKERS - 1)
