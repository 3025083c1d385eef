"""What puts things right, safe to run many times: lapsed leases, missed wake-ups, sweeps."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from registry import feedback, reviewing, storage
from registry.actors import administrator_actor
from registry.events import receiving
from registry.imports import engine
from worker import clock, erasing, imports, inputs, states, transport, unpacking
from worker.approvals import deciding
from worker.dependencies import keeping
from worker.dependencies import queue as preparations
from worker.dispatch import wake, wake_importer, wake_preparer
from worker.memory import erasing as memory
from worker.memory import webhook
from worker.models import Attempt, Run, Status
from worker.sandbox.clearing import clear
from worker.tasks import host_name

log = logging.getLogger(__name__)
EVERY_S = 5.0
SWEEP_EVERY_S = 600.0
_WAKE_AGAIN = timedelta(seconds=5)
_JOB_FOLDER_KEPT_S = 600.0
_RESCANNED = 200  # versions that one sweep scans with new rules
_time = clock.Watch()


@dataclass(frozen=True)
class Reaped:
    lapsed: int  # attempts taken from dead workers
    woken: int  # wake-ups published


def reap_once() -> Reaped:
    """Takes back runs of dead workers and wakes this host's free slots for runs that nobody was woken for."""
    now = clock.now()
    lapsed = states.lapse(now) if _time.may_be_believed(now) else []
    for uid in lapsed:
        log.warning("The worker of run %s is gone", uid)
    for uid in deciding.expire(timezone.now()):
        log.info("Nobody let run %s start in time", uid)
    imports.ask_for_due()
    if imports.is_missed():
        wake_importer()
    if preparations.is_missed():
        wake_preparer()
    woken = _wake_free_slots()
    webhook.tell_due()  # last: it may wait for somebody else's server
    return Reaped(len(lapsed), woken)


def _wake_free_slots() -> int:
    """At most one wake-up a free slot, never one a run: a wake-up goes on until no run is left."""
    now = timezone.now()
    runnable = Run.objects.filter(status=Status.QUEUED, run_after__lte=now)
    missed = runnable.exclude(dispatched_at__gt=now - _WAKE_AGAIN).order_by("run_after", "id")
    free = settings.SKILLQUAY_WORKERS - _busy_slots()
    keys = list(missed.values_list("pk", flat=True)[: max(free, 0)])
    woken = 0
    for _ in keys:
        if not wake():
            break
        woken += 1
    Run.objects.filter(pk__in=keys[:woken], status=Status.QUEUED).update(dispatched_at=now)
    return woken


def _busy_slots() -> int:
    """A worker that was killed is busy with nothing, though its leases last for a while."""
    here = Attempt.objects.filter(finished_at=None, worker__startswith=f"{host_name()}:", run__parent=None)
    workers = here.filter(run__status=Status.RUNNING).values_list("worker", flat=True)
    return sum(Path("/proc", worker.rpartition(":")[2]).exists() for worker in workers)


def sweep_once() -> None:
    """Removes what nothing needs (inputs, blobs, packages, folders of dead runs); scans what is stale."""
    if not _time.may_be_believed(clock.now()):
        return  # what came a moment before a machine slept seems old
    inputs.sweep()
    storage.sweep()
    unpacking.sweep()
    unpacking.sweep_purged()
    keeping.sweep()
    erasing.sweep()
    memory.sweep()
    sweep_job_folders()
    engine.sweep()
    receiving.sweep()
    feedback.sweep()
    reviewing.rescan_some(administrator_actor(), most=_RESCANNED, seconds=EVERY_S)
    if not settings.REDIS_URL:
        transport.sweep(Path(settings.SKILLQUAY_VAR))


def sweep_job_folders() -> int:
    """Folders that a killed worker left: those of no running attempt, untouched for ten minutes.

    A run dates its own folder as it likes: one of times to come is as old as one of long ago.
    """
    root, removed = Path(settings.SKILLQUAY_VAR) / "jobs", 0
    running = set(Run.objects.filter(status=Status.RUNNING).values_list("uid", "attempt"))
    alive = {f"{uid}-{attempt}" for uid, attempt in running}
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(FileNotFoundError):  # its own run, or another sweep, was first
            age = abs(time.time() - folder.stat().st_mtime)
            if folder.name not in alive and age > _JOB_FOLDER_KEPT_S:
                clear(folder)
                removed += 1
    return removed
