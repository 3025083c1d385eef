"""Creates, finds, cancels and undoes run batches."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action
from registry.versions.publishing.version_rows import serialize_problem
from worker.models import (
    ACTIVE_BATCHES,
    BatchItemState,
    RunBatch,
    RunBatchAction,
    RunBatchItem,
    RunBatchState,
)
from worker.queue import states
from worker.run_batches import errors
from worker.run_batches.selection import BatchRequest, SelectedRun, checked, select_runs

MAX_ACTIVE = 5  # batches of one user


def create(request: BatchRequest, actor: Actor) -> RunBatch:
    """Stores the batch with the runs that match now, and an audit entry; ``RunBatchLoop`` processes it later.

    Raises RUN_BATCH_BUSY if the user has ``MAX_ACTIVE`` active batches, and RUN_BATCH_EMPTY if no run
    matches. Raises FORBIDDEN without a user, and the refusals of ``checked`` and ``select_runs``.
    """
    if actor.user is None:
        raise FORBIDDEN.refusal(action=Action.RUN.value)
    request = checked(request)
    if RunBatch.objects.filter(user=actor.user, state__in=ACTIVE_BATCHES).count() >= MAX_ACTIVE:
        raise errors.RUN_BATCH_BUSY.refusal(limit=MAX_ACTIVE)
    selected = select_runs(request, actor)
    if not selected:
        raise errors.RUN_BATCH_EMPTY.refusal().at("filter")
    token = actor.token if actor.token and actor.token.pk else None
    with transaction.atomic():
        batch = RunBatch.objects.create(
            action=request.action,
            version=request.version,
            filter=dict(request.filter),
            inputs=dict(request.inputs),
            user=actor.user,
            token=token,
            token_name=actor.token.name if actor.token else "",
        )
        RunBatchItem.objects.bulk_create([_item(batch, each) for each in selected], batch_size=500)
        audit.record(actor, "run_batch.create", batch.uid, kind=batch.action, runs=len(selected))
    return batch


def _item(batch: RunBatch, selected: SelectedRun) -> RunBatchItem:
    run, problem = selected.run, selected.problem
    return RunBatchItem(
        batch=batch,
        run=run,
        run_uid=run.uid,
        skill_label=run.skill_label,
        state=BatchItemState.SKIPPED if problem else BatchItemState.PENDING,
        problem=serialize_problem(problem) if problem else None,
    )


def find(uid: str, actor: Actor) -> RunBatch:
    """The batch with its counts. Raises NOT_FOUND unless the actor can see it."""
    rows = RunBatch.objects.visible_to(actor).with_counts().select_related("user")
    batch = rows.filter(uid=uid).first()
    if batch is None:
        raise NOT_FOUND.refusal(what="run batch", name=uid[:80])
    return batch


def cancel(batch: RunBatch, actor: Actor, *, undo: bool = False) -> int:
    """Cancels the batch. With ``undo``, also cancels the runs that it queued and that have not started.
    Returns the number of these runs.

    Raises RUN_BATCH_ENDED if the batch has ended, unless ``undo`` is set. Raises RUN_BATCH_NO_UNDO if
    ``undo`` is set for a batch that cancels runs.
    """
    if undo and batch.action != RunBatchAction.REPEAT:
        raise errors.RUN_BATCH_NO_UNDO.refusal()
    now = timezone.now()
    with transaction.atomic():
        row = RunBatch.objects.select_for_update().get(pk=batch.pk)
        is_active = row.state in ACTIVE_BATCHES
        if not (is_active or undo):
            raise errors.RUN_BATCH_ENDED.refusal()
        if is_active:
            stop(row)
        cancelled = 0
        if undo:
            RunBatch.objects.filter(pk=row.pk).update(undone_at=now)
            new_runs = row.items.filter(new_run__isnull=False).values_list("new_run", flat=True)
            cancelled = states.cancel_unstarted(list(new_runs))
        audit.record(actor, "run_batch.undo" if undo else "run_batch.cancel", row.uid, runs=cancelled)
    return cancelled


def may_undo(batch: RunBatch) -> bool:
    """Whether ``undo`` would change anything."""
    if batch.action != RunBatchAction.REPEAT or batch.undone_at:
        return False
    waiting = batch.items.filter(new_run__status__in=states.WAITING, new_run__attempt=0)
    return batch.state in ACTIVE_BATCHES or waiting.exists()


def stop(batch: RunBatch, problem: dict[str, object] | None = None) -> None:
    """Marks the batch as cancelled and its pending runs as skipped. The caller must hold its row's lock."""
    RunBatch.objects.filter(pk=batch.pk).update(
        state=RunBatchState.CANCELLED, problem=problem, finished_at=timezone.now(), lease_until=None
    )
    stopped = serialize_problem(errors.RUN_BATCH_STOPPED.problem())
    batch.items.filter(state=BatchItemState.PENDING).update(state=BatchItemState.SKIPPED, problem=stopped)
