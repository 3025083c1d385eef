"""Processes run batches in small steps.

A lease on the batch excludes other processes. After a crash, a second attempt repeats no run twice: it finds
the new runs of the first attempt by their idempotency keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry.core import leases
from registry.core.errors import NOT_FOUND
from registry.core.leases import MAX_ATTEMPTS, Lease
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.packages.problems import Problem, Refusal
from registry.storage import blobs
from registry.versions.publishing.version_rows import serialize_problem
from worker.models import (
    ACTIVE_BATCHES,
    BatchItemState,
    Run,
    RunBatch,
    RunBatchAction,
    RunBatchItem,
    RunBatchState,
)
from worker.queue import states
from worker.run_batches import errors
from worker.run_batches.change import stop
from worker.run_batches.selection import may_include, version_for
from worker.runs.cancel import cancel
from worker.runs.errors import RUN_ERASED
from worker.runs.repeat import merged_inputs, repeat_run

STEP = 50  # runs of one step; then other batches get a turn
_SKIPS = (
    errors.RUN_BATCH_NOT_ALLOWED.name,
    errors.RUN_BATCH_RUN_ENDED.name,
    errors.RUN_BATCH_RUN_REMOVED.name,
    FORBIDDEN.name,
    NOT_FOUND.name,
    RUN_ERASED.name,
)


@dataclass(frozen=True)
class _Outcome:
    state: BatchItemState
    problem: Problem | None = None
    new_run: Run | None = None


def process_next(now: datetime) -> bool:
    """Processes one step of the oldest batch that no other process holds.

    Stops a batch that was tried too often or whose user is gone. Returns False if there is no batch, or if
    the storage does not answer.
    """
    free = Q(lease_until=None) | leases.expired(now)
    rows = RunBatch.objects.filter(free, state__in=ACTIVE_BATCHES)
    batch = leases.claim(rows, now, state=RunBatchState.RUNNING)
    if batch is None:
        return False
    lease = Lease(batch, batch.attempt)
    try:
        if batch.attempt > MAX_ATTEMPTS:
            raise errors.RUN_BATCH_ABANDONED.refusal(attempts=MAX_ATTEMPTS)
        actor = actor_of(batch)
    except Refusal as refused:
        _stop(lease, refused.problems[0])
        return True
    return _step(lease, actor)


def actor_of(batch: RunBatch) -> Actor:
    """The batch's user with current permissions.

    Raises RUN_BATCH_USER_GONE if the user is inactive, or the token is revoked, expired or deleted.
    """
    user, token = batch.user, batch.token
    if not user.is_active:
        raise errors.RUN_BATCH_USER_GONE.refusal()
    if not batch.token_name:
        return Actor(user=user)
    if token is None or token.revoked_at is not None or token.expires_at <= timezone.now():
        raise errors.RUN_BATCH_USER_GONE.refusal()
    return Actor(user=user, token=token, scopes=frozenset(token.scopes))


def _step(lease: Lease[RunBatch], actor: Actor) -> bool:
    batch = lease.job
    items = batch.items.filter(state=BatchItemState.PENDING).select_related("run__team", "run__skill")
    for item in items.order_by("pk")[:STEP]:
        if not lease.renew():  # cancelled, or another process has it
            return True
        try:
            outcome = _outcome(item, batch, actor)
        except Refusal as refused:
            if blobs.is_lost(refused):
                lease.release()
                return False
            problem = refused.problems[0]
            state = BatchItemState.SKIPPED if problem.code in _SKIPS else BatchItemState.FAILED
            outcome = _Outcome(state, problem)
        _record(item, outcome)
    if batch.items.filter(state=BatchItemState.PENDING).exists():
        lease.release()
    else:
        lease.finish(state=RunBatchState.DONE)
    return True


def _outcome(item: RunBatchItem, batch: RunBatch, actor: Actor) -> _Outcome:
    run = item.run
    if run is None:
        raise errors.RUN_BATCH_RUN_REMOVED.refusal()
    if not may_include(run, batch.action, actor):
        raise errors.RUN_BATCH_NOT_ALLOWED.refusal()
    if batch.action == RunBatchAction.CANCEL:
        if not cancel(run, actor=actor):
            raise errors.RUN_BATCH_RUN_ENDED.refusal()
        return _Outcome(BatchItemState.DONE)
    version = version_for(run, batch.version, actor)
    key = f"run-batch:{batch.uid}:{run.uid}"
    inputs = merged_inputs(run, batch.inputs) if batch.inputs else None
    new_run = repeat_run(run, version, actor, inputs=inputs, idempotency_key=key)
    return _Outcome(BatchItemState.DONE, new_run=new_run)


def _record(item: RunBatchItem, outcome: _Outcome) -> None:
    """Saves the outcome. Cancels the new run if the batch was undone in the meantime."""
    with transaction.atomic():
        batch = RunBatch.objects.select_for_update().get(pk=item.batch_id)
        RunBatchItem.objects.filter(pk=item.pk).exclude(state=BatchItemState.DONE).update(
            state=outcome.state,
            problem=serialize_problem(outcome.problem) if outcome.problem else None,
            new_run=outcome.new_run,
        )
        if batch.undone_at and outcome.new_run:
            states.cancel_unstarted([outcome.new_run.pk])


def _stop(lease: Lease[RunBatch], problem: Problem) -> None:
    with transaction.atomic():
        if batch := lease.row().select_for_update().first():
            stop(batch, serialize_problem(problem))
