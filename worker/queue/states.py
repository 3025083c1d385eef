"""Changes ``Run.status``, which no other package writes. Only one of several concurrent changes takes effect.

``[waiting_approval →] queued → running → succeeded | failed | timed_out | cancelled | lost | refused``. A run
that is deferred or whose lease expires returns to ``queued``. A queued run can also end as ``cancelled``, and
a run that waits for approval as ``cancelled`` or ``refused``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from worker.core.errors import CANCELLED
from worker.core.storable import json_text
from worker.delivery import record as delivery
from worker.failures.recording import failure_of, record
from worker.models import Run, RunStatus
from worker.queue import sql
from worker.queue.claims import Claim

ENDED = (
    RunStatus.SUCCEEDED,
    RunStatus.FAILED,
    RunStatus.TIMED_OUT,
    RunStatus.CANCELLED,
    RunStatus.LOST,
    RunStatus.REFUSED,
)
WAITING = (RunStatus.QUEUED, RunStatus.WAITING_APPROVAL)


@dataclass(frozen=True)
class Verdict:
    """The end of an attempt, as stored in the run's row; ``failure_code`` is "" only for success."""

    status: RunStatus
    failure_code: str = ""
    message: str = ""
    cause: Mapping[str, Any] = field(default_factory=dict)  # worker.protocols.call.Cause as a document
    result: Mapping[str, Any] | None = None
    exit_code: int | None = None
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    network: Sequence[Mapping[str, Any]] = ()  # HostAccess documents
    steps: Sequence[Mapping[str, Any]] = ()
    log_bytes: int = 0
    progress: int | None = None


def enqueue(run: Run) -> None:
    """Inserts the run as runnable; the caller must wake a worker on commit."""
    run.status = RunStatus.QUEUED
    run.dispatched_at = run.created_at
    _insert(run)


def enqueue_for_approval(run: Run) -> None:
    """Inserts the run as waiting for approval, so that no worker claims it."""
    run.status = RunStatus.WAITING_APPROVAL
    _insert(run)


def _insert(run: Run) -> None:
    """Inserts the run with the next number of its skill, in one transaction, so that numbers have no gaps."""
    with transaction.atomic():
        run.number = sql.next_run_number(run.skill_id) if run.skill_id else 0
        run.save(force_insert=True)


def release(run: Run) -> bool:
    """Makes a run that waits for approval runnable; returns False if it no longer waits.

    Also stores the run's permission and cache key. The caller must wake a worker on commit.
    """
    run.status = RunStatus.QUEUED
    run.run_after = run.dispatched_at = timezone.now()
    changed = ("status", "run_after", "dispatched_at", "permission", "cache_key", "cache_ttl")
    waiting = Run.objects.filter(pk=run.pk, status=RunStatus.WAITING_APPROVAL)
    return bool(waiting.update(**{name: getattr(run, name) for name in changed}))


def refuse_waiting(run_id: int, failure_code: str, message: str) -> bool:
    """Ends a run that waits for approval as refused; returns False if it no longer waits."""
    return bool(
        Run.objects.filter(pk=run_id, status=RunStatus.WAITING_APPROVAL).update(
            status=RunStatus.REFUSED, failure_code=failure_code, message=message, finished_at=timezone.now()
        )
    )


def answer_from_cache(run: Run, source: Run) -> None:
    """Saves the run as succeeded with the answer of ``source``, an earlier run.

    The caller must copy log, steps and artifacts with ``recording.copy_records``.
    """
    is_new = run.pk is None
    run.status, run.cached_from = RunStatus.SUCCEEDED, source
    run.message, run.progress, run.exit_code = source.message, source.progress, source.exit_code
    run.result = {**(source.result or {}), "memory_writes": []}
    run.sandbox, run.log_bytes, run.attempt = source.sandbox, source.log_bytes, source.attempt
    run.started_at = run.finished_at = run.created_at if is_new else run.run_after
    if is_new:
        _insert(run)
    else:
        run.save()


def finish(claim: Claim, verdict: Verdict, *, write: Callable[[], None]) -> bool:
    """Ends run and attempt and calls ``write``, all in one transaction.

    If the claim was lost, changes nothing and returns False.
    """
    keep = claim.cache_ttl is not None and verdict.status == RunStatus.SUCCEEDED
    ending = sql.Ending(
        timezone.now(), verdict.status.value, verdict.failure_code, json.dumps(verdict.sandbox)
    )
    result = None if verdict.result is None else json_text(verdict.result)
    steps, network = json_text(verdict.steps), json_text(list(verdict.network))
    failure = failure_of(claim, verdict.status, verdict.failure_code, verdict.message, verdict.cause)
    with transaction.atomic():
        finished = sql.finish_run(
            claim.run_id,
            claim.token,
            ending,
            message=verdict.message,
            cause=json_text(verdict.cause),
            error_key=failure.key if failure else "",
            result=result,
            exit_code=verdict.exit_code,
            log_bytes=verdict.log_bytes,
            progress=verdict.progress,
            cache_for=timedelta(seconds=claim.cache_ttl or 0) if keep else None,
        )
        if not finished:
            return False
        sql.finish_attempt(claim.run_id, claim.attempt, ending, steps=steps, network=network)
        write()
        delivery.run_ended(claim, claim.run_id, verdict.status, ending.finished_at)
        if failure:
            # Done last, because other failures of the group wait for this row.
            record(failure, ending.finished_at)
    return True


def cancel(run_id: int) -> bool:
    """Ends a queued or waiting run at once; requests the stop of a running one. Also cancels its child runs.

    Returns False if the run had already ended.
    """
    now = timezone.now()
    cancel_children(run_id)
    for _ in range(3):  # a claim or a requeue may come between the two statements
        waiting = Run.objects.filter(pk=run_id, status__in=WAITING).update(
            status=RunStatus.CANCELLED, failure_code=CANCELLED.name, finished_at=now, cancel_requested_at=now
        )
        if waiting:
            return True
        running = Run.objects.filter(pk=run_id, status=RunStatus.RUNNING)
        if running.filter(cancel_requested_at=None).update(cancel_requested_at=now) or running.exists():
            return True
        if not Run.objects.filter(pk=run_id, status__in=WAITING).exists():
            return False
    return False


def cancel_unstarted(run_ids: Sequence[int]) -> int:
    """Cancels those of the runs that no worker has claimed yet; returns their number."""
    now = timezone.now()
    waiting = Run.objects.filter(pk__in=run_ids, status__in=WAITING, attempt=0)
    return waiting.update(
        status=RunStatus.CANCELLED, failure_code=CANCELLED.name, finished_at=now, cancel_requested_at=now
    )


def cancel_children(run_id: int) -> None:
    """Cancels all descendants of the run, because their answers are no longer read."""
    for child in Run.objects.filter(parent_id=run_id).exclude(status__in=ENDED).values_list("pk", flat=True):
        cancel(child)
