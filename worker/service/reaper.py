"""Recovery tasks that are safe to repeat: expired leases, missed wake-ups and sweeps."""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from registry.audit_chain import links as audit_links
from registry.events import receive
from registry.identity.actors import administrator_actor
from registry.imports import run_import
from registry.matching import feedback
from registry.models.session import SessionStore
from registry.review import findings
from registry.storage import blobs
from registry.uploads import uploads
from registry.versions.publishing import parser_answers
from worker.approvals import decide
from worker.attempts import unpacking
from worker.core import clock
from worker.core.host import worker_name
from worker.core.sandbox_settings import jobs_folder
from worker.delivery import erase as delivery
from worker.dependencies import queue as preparations
from worker.dependencies import store
from worker.failures import recount
from worker.files import inputs
from worker.health import heartbeats, run_totals
from worker.memory import erase as memory
from worker.models import ProcessKind, Run, RunStatus
from worker.module_loads import queue as module_loads
from worker.queue import dispatch, fair_queue, retries, transport
from worker.queue.dispatch import wake, wake_builder, wake_importer, wake_parser_reader
from worker.retention import erase
from worker.run_batches import erase as run_batches
from worker.sandbox.cleanup import remove_tree
from worker.schedules import erase as schedules
from worker.service import import_jobs

log = logging.getLogger(__name__)
EVERY_S = 5.0
SWEEP_EVERY_S = 600.0
_WAKE_INTERVAL = timedelta(seconds=5)
_MAX_WAKE_UPS = 256  # limit of wake-ups in the broker
_JOB_FOLDER_RETENTION_S = 600.0
_MAX_RESCANS = 200  # number of versions that one sweep scans with new rules
_clock_jumps = clock.ClockJumpDetector()


@dataclass(frozen=True)
class ReapResult:
    expired: int  # number of attempts taken from dead workers
    woken: int  # number of published wake-ups


def reap_once() -> ReapResult:
    """Recovers runs of dead workers, except shortly after a clock jump; expires approvals and publishes
    missed wake-ups.

    Also does other frequent upkeep, such as requesting due imports and writing the reaper's heartbeat.
    """
    now = clock.now()
    expired = retries.expire_leases(now) if _clock_jumps.is_reliable(now) else []
    for uid in expired:
        log.warning("The worker of run %s is gone", uid)
    for uid in decide.expire(timezone.now()):
        log.info("Run %s was not approved in time", uid)
    import_jobs.request_due()
    if import_jobs.has_claimable():
        wake_importer()
    if preparations.has_claimable():
        wake_builder()
    if parser_answers.has_waiting() or module_loads.has_waiting():
        wake_parser_reader()
    woken = _wake_slots()
    _record_tick()
    audit_links.link_pending()
    return ReapResult(len(expired), woken)


def _record_tick() -> None:
    heartbeats.beat(ProcessKind.REAPER, worker_name())
    heartbeats.forget_silent()
    run_totals.move_forward()


def _wake_slots() -> int:
    """Sends a wake-up for each claimable run without a recent one, minus those still in the broker; returns
    their number.

    Idle slots fetch wake-ups at once. Wake-ups in the broker are subtracted, so that they never accumulate.
    """
    now = timezone.now()
    missed = fair_queue.claimable_runs(now).exclude(dispatched_at__gt=now - _WAKE_INTERVAL)
    runs = missed.values("pk")[:_MAX_WAKE_UPS].count()
    waiting = dispatch.count_waiting() if runs else None
    woken = 0
    while waiting is not None and waiting + woken < runs and wake():
        woken += 1
    return woken


def sweep_once() -> None:
    """Removes expired and unused data, such as inputs, blobs, packages, memories, events and job folders.

    Also erases due runs and rescans versions with new rules. Does nothing shortly after a clock jump.
    """
    if not _clock_jumps.is_reliable(clock.now()):
        return  # after the machine slept, new files and rows seem old
    inputs.sweep()
    uploads.sweep()
    blobs.sweep()
    unpacking.sweep()
    unpacking.sweep_purged()
    store.sweep()
    erase.sweep()
    memory.sweep()
    recount.sweep()
    schedules.sweep()
    run_batches.sweep()
    delivery.sweep()
    sweep_job_folders()
    run_import.sweep_scratch()
    receive.delete_expired_events()
    SessionStore.clear_expired()
    feedback.delete_expired_feedback()
    findings.rescan_batch(administrator_actor(), limit=_MAX_RESCANS, seconds=EVERY_S)
    if not settings.REDIS_URL:
        transport.sweep(Path(settings.SKILLQUAY_VAR))


def sweep_job_folders() -> int:
    """Removes job folders of killed workers; returns how many.

    These belong to no running attempt and are older than ten minutes. A run can set any modification time, so
    times in the future count as old.
    """
    root, removed = jobs_folder(), 0
    running = set(Run.objects.filter(status=RunStatus.RUNNING).values_list("uid", "attempt"))
    alive = {f"{uid}-{attempt}" for uid, attempt in running}
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(FileNotFoundError):  # the run or another sweep has removed the folder
            age = abs(time.time() - folder.stat().st_mtime)
            if folder.name not in alive and age > _JOB_FOLDER_RETENTION_S:
                folder.unlink() if folder.is_file() else remove_tree(folder)
                removed += 1
    return removed
