"""Removes runs, artifacts and logs that the policies no longer keep, in small batches during normal
operation.

One process at a time goes through all runs under a lease. Each batch is one transaction that also stores the
position, so a killed process loses at most one batch, and another process continues.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from registry.core.leases import LEASE_TIME, Lease, LeaseLost, claim, expired
from registry.identity import audit
from registry.identity.actors import administrator_actor
from worker.failures.recount import count_as_removed
from worker.models import Artifact, LogChunk, RetentionPass, Run
from worker.retention.plan import Candidate, Decision, Plan, make_plan
from worker.retention.policies import Policies, load_policies

EVERY = timedelta(days=1)
BATCH = 200  # number of runs that a batch examines
_RENEW_S = 15.0
_MAX_PAUSE_S = 1.0


@dataclass(frozen=True)
class Removed:
    """The amounts that a batch removed. ``artifacts`` and ``logs`` count runs that lost only these. ``bytes``
    is the size of removed artifacts and logs.
    """

    runs: int = 0
    artifacts: int = 0
    logs: int = 0
    bytes: int = 0


def last_pass() -> RetentionPass | None:
    """The current or last pass; None before the first one."""
    return RetentionPass.objects.first()


def run_pass(*, wait: Callable[[float], bool] = lambda seconds: False) -> bool:
    """Runs the pass that is due, or continues an interrupted one; returns whether it was completed.

    After each batch, calls ``wait`` with the seconds that the batch took, so that other work gets the same
    time. ``wait`` returns True to end the pass early. Does nothing if no pass is due, if no policy removes
    anything, or if another process runs the pass.
    """
    now = timezone.now()
    policies = load_policies()
    if all(policy.keeps_all for policy in (policies.site, *policies.teams.values())):
        return False
    RetentionPass.objects.get_or_create(pk=1, defaults={"due_at": now})
    free = Q(lease_until=None) | expired(now)
    job = claim(RetentionPass.objects.filter(free, due_at__lte=now), now, finished_at=None)
    if job is None:
        return False
    lease = Lease(job, job.attempt)
    if job.cursor == 0:
        lease.row().update(started_at=now, runs=0, artifacts=0, logs=0, bytes=0)
    try:
        is_done = _walk(make_plan(policies, now), lease, wait)
    except LeaseLost:
        return False
    if not is_done:
        lease.release()
    return is_done and _finish(lease, policies)


def remove_now() -> bool:
    """Runs a pass at once, even if none is due; returns whether it was completed."""
    RetentionPass.objects.update(due_at=timezone.now())
    return run_pass(wait=threading.Event().wait)


def _walk(plan: Plan, lease: Lease[RetentionPass], wait: Callable[[float], bool]) -> bool:
    """Removes batch after batch to the end, or until a policy changes; returns False if ``wait`` ended the
    pass early.
    """
    cursor, renewed_at = lease.job.cursor, time.monotonic()
    while (end := _end_of_batch(cursor)) is not None:
        began = time.monotonic()
        batch = Run.objects.filter(pk__gt=cursor, pk__lte=end)
        found = [candidate.pk for candidate, _decision in plan.decisions(batch)]
        cursor = end
        if load_policies() != plan.policies:
            return True
        if found or began - renewed_at > _RENEW_S:
            _remove(plan, found, lease, cursor)
            renewed_at = began
        if wait(min(time.monotonic() - began, _MAX_PAUSE_S)):
            return False
    return True


def _end_of_batch(cursor: int) -> int | None:
    rows = Run.objects.filter(pk__gt=cursor).order_by("pk").values_list("pk", flat=True)[:BATCH]
    return max(rows, default=None)


def _remove(plan: Plan, runs: Collection[int], lease: Lease[RetentionPass], cursor: int) -> None:
    """Locks the runs, repeats the plan's decisions for them and applies these. Raises LeaseLost."""
    with transaction.atomic():
        lease.lock()
        locked = Run.objects.filter(Q(pk__in=runs) | Q(root__in=runs)).select_for_update(of=("self",))
        list(locked.order_by("pk").values_list("pk", flat=True))
        decisions = list(plan.decisions(Run.objects.filter(pk__in=runs)))
        removed = _apply(decisions)
        lease.row().update(
            cursor=cursor,
            lease_until=timezone.now() + LEASE_TIME,
            runs=F("runs") + removed.runs,
            artifacts=F("artifacts") + removed.artifacts,
            logs=F("logs") + removed.logs,
            bytes=F("bytes") + removed.bytes,
        )


def _apply(decisions: Collection[tuple[Candidate, Decision]]) -> Removed:
    roots = [run.pk for run, decision in decisions if decision.row]
    without_artifacts = [run.pk for run, decision in decisions if decision.artifacts]
    without_log = [run.pk for run, decision in decisions if decision.log]
    rows = [*roots, *Run.objects.filter(root__in=roots).values_list("pk", flat=True)]
    size = _artifact_bytes([*rows, *without_artifacts]) + _log_bytes([*rows, *without_log])
    now = timezone.now()
    Artifact.objects.filter(run__in=without_artifacts).delete()
    Run.objects.filter(pk__in=without_artifacts).update(artifacts_removed_at=now)
    LogChunk.objects.filter(run__in=without_log).delete()
    Run.objects.filter(pk__in=without_log).update(log_removed_at=now, log_bytes=0)
    count_as_removed(rows)
    Run.objects.filter(pk__in=rows).only("pk").delete()
    return Removed(len(rows), len(without_artifacts), len(without_log), size)


def _artifact_bytes(runs: Collection[int]) -> int:
    return Artifact.objects.filter(run__in=runs).aggregate(n=Sum("size"))["n"] or 0


def _log_bytes(runs: Collection[int]) -> int:
    return Run.objects.filter(pk__in=runs).aggregate(n=Sum("log_bytes"))["n"] or 0


def _finish(lease: Lease[RetentionPass], policies: Policies) -> bool:
    """Ends the pass, with an audit entry if the pass removed anything; returns False if the lease was lost.

    The next pass is due in a day, or at once if the policies have changed since this pass began.
    """
    with transaction.atomic():
        job = lease.row().select_for_update().first()
        if job is None:
            return False
        if job.runs or job.artifacts or job.logs:
            audit.record(
                administrator_actor(),
                "run.retention",
                "site",
                runs=job.runs,
                artifacts=job.artifacts,
                logs=job.logs,
                bytes=job.bytes,
            )
        pause = EVERY if load_policies() == policies else timedelta(0)
        return lease.finish(cursor=0, due_at=timezone.now() + pause)
