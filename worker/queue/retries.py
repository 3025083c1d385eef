"""Puts runs back into the queue: after their worker was lost, or if they can't start yet."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from worker.core.errors import CANCELLED, WORKER_LOST
from worker.delivery import record as delivery
from worker.failures.recording import failure_of, record
from worker.models import Attempt, Run, RunStatus
from worker.queue.claims import Claim, claimed_run
from worker.queue.states import cancel_children

_COLUMNS = (
    *("uid", "claim_token", "attempt", "max_attempts", "cancel_requested_at"),
    *("skill_id", "version_number", "team_id", "caller_id", "case_name"),
)


def expire_leases(now: datetime) -> list[str]:
    """Requeues or ends runs whose lease has expired at ``now``, a time of ``worker.core.clock``.

    A run with attempts left is requeued; others become ``lost``. A run whose cancellation was requested
    becomes ``cancelled``. Also cancels the child runs. Returns the uids of the runs with expired leases. Safe
    to repeat.
    """
    expired = Run.objects.filter(status=RunStatus.RUNNING, lease_until__lt=now)
    return [run.uid for run in expired.only(*_COLUMNS) if _expire_lease(run, now)]


def _expire_lease(run: Run, now: datetime) -> bool:
    failure = None
    if run.cancel_requested_at:
        change: dict[str, Any] = {
            "status": RunStatus.CANCELLED,
            "failure_code": CANCELLED.name,
            "finished_at": now,
        }
    elif run.attempt < run.max_attempts:
        change = {"status": RunStatus.QUEUED, "run_after": now, "dispatched_at": None}
    else:
        failure = failure_of(run, RunStatus.LOST, WORKER_LOST.name)
        change = {"status": RunStatus.LOST, "failure_code": WORKER_LOST.name, "finished_at": now}
        change["error_key"] = failure.key if failure else ""
    with transaction.atomic():
        claimed = Run.objects.filter(
            pk=run.pk, status=RunStatus.RUNNING, claim_token=run.claim_token, lease_until__lt=now
        )
        if not claimed.update(claim_token="", lease_until=None, **change):
            return False
        cancel_children(run.pk)
        Attempt.objects.filter(run_id=run.pk, number=run.attempt, finished_at=None).update(
            status=RunStatus.LOST, failure_code=WORKER_LOST.name, finished_at=now
        )
        if failure:
            delivery.run_ended(run, run.pk, RunStatus.LOST, now)
            record(failure, now)
    return True


def defer(claim: Claim, seconds: float) -> bool:
    """Requeues a run that can't start yet, so that it is claimed again after ``seconds`` at the earliest.

    The attempt is deleted and does not count. Returns False if the lease was lost. A run that was cancelled
    meanwhile ends instead.
    """
    now = timezone.now()
    back = {"attempt": claim.attempt - 1, "claim_token": "", "lease_until": None, "started_at": None}
    waits = {"status": RunStatus.QUEUED, "run_after": now + timedelta(seconds=seconds), "dispatched_at": None}
    ends = {"status": RunStatus.CANCELLED, "failure_code": CANCELLED.name, "finished_at": now}
    with transaction.atomic():
        claimed = claimed_run(claim)
        if not claimed.filter(cancel_requested_at=None).update(**back, **waits) and not claimed.update(
            **back, **ends
        ):
            return False
        Attempt.objects.filter(run_id=claim.run_id, number=claim.attempt).delete()
    return True


def make_runnable(digests: Collection[str]) -> int:
    """Makes deferred runs of packages with these digests runnable at once; returns how many."""
    now = timezone.now()
    waiting = Run.objects.filter(status=RunStatus.QUEUED, digest__in=digests, run_after__gt=now)
    return waiting.update(run_after=now)
