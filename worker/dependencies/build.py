"""Runs dependency builds, in a worker's task or within a run that needs the build."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable

from django.utils import timezone

from registry.core.leases import keep_alive
from registry.packages.problems import Refusal
from worker.attempts import storage_gate
from worker.core.errors import CANCELLED
from worker.dependencies import queue
from worker.dependencies.errors import DEPENDENCIES_DISK, DEPENDENCIES_FAILED
from worker.dependencies.installers.installer import build
from worker.dependencies.queue import BuildLease
from worker.sandbox.policy import CheckStop, StopReason

log = logging.getLogger(__name__)
MAX_TASK_S = 3600


def build_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Runs waiting builds until none waits, no slot is free or the worker stops; returns how many.

    Also stops when the lease of a build or the storage is lost; that build is not counted.
    """
    done = 0
    while not is_stopping() and queue.has_free_slot() and (lease := queue.claim_next(timezone.now())):
        try:
            run_build(lease)
        except Refusal:  # the lease or the storage was lost, and the build was requeued
            break
        done += 1
    return done


def run_build(lease: BuildLease, check_stop: CheckStop = lambda: None) -> None:
    """Runs the leased build and records its result or failure.

    If the build is cancelled, or the lease or the storage is lost, requeues the build and raises the refusal.
    """
    with keep_alive(lease):
        try:
            lease.succeed(build(lease, _stop_check(lease, check_stop)))
        except Refusal as error:
            if error.code == CANCELLED.name or storage_gate.close_if_lost(error):
                lease.requeue()
                raise
            lease.fail(error.problems[0])
        except Exception as error:
            log.exception("DependencyBuild %s failed in the platform", lease.job.uid)
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            failed = DEPENDENCIES_FAILED.problem(reason=type(error).__name__)
            lease.fail(DEPENDENCIES_DISK.problem() if is_full else failed)


def _stop_check(lease: BuildLease, check_stop: CheckStop) -> CheckStop:
    def check() -> StopReason | None:
        return check_stop() or (None if lease.is_held() else "lease_lost")

    return check
