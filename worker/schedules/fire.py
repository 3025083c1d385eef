"""Starts the runs of pending firings.

A lease on the firing excludes other processes. If a second attempt follows a crash, the run's idempotency key
finds the first attempt's run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from registry.core import leases
from registry.core.leases import MAX_ATTEMPTS, Lease
from registry.identity.permissions import Action, may
from registry.packages.problems import Problem, Refusal
from registry.rules.decision import Decision
from registry.storage import blobs
from registry.versions.publishing.version_rows import serialize_problem
from worker.files.inputs import uses_of
from worker.models import (
    Approval,
    ApprovalDecision,
    FiringState,
    OverlapPolicy,
    Run,
    RunStatus,
    Schedule,
    ScheduleFiring,
)
from worker.queue import states
from worker.runs.request import find_by_idempotency_key, request_run
from worker.schedules import announce, call, errors, run_as

MAX_QUEUED = 20  # limit of a schedule's firings that wait for an earlier run
_MAX_FIRINGS = 200  # limit per pass
_LOOK_AGAIN = timedelta(seconds=2)
_STORAGE_WAIT = timedelta(seconds=10)
_MAX_APPROVALS = 20  # number of newest approvals that are compared
_RELATED = (
    "skill__team",
    "team",
    "run_as",
    "token__owner",
    "token__team",
    "approved_by",
)
_APPROVED = (ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.PREFIX)

Starter = Callable[[ScheduleFiring], Run]


@dataclass(frozen=True)
class FiringOutcome:
    """The outcome of a firing. If its state is PENDING, the firing is tried again later."""

    state: FiringState
    run: Run | None = None
    problem: Problem | None = None


class ScheduleStopped(Exception):
    """Raised if no run can start until a person changes something; the schedule is then paused."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


def fire_pending(now: datetime, start: Starter | None = None) -> int:
    """Processes up to ``_MAX_FIRINGS`` due firings, oldest first, and returns their number. Each is started,
    skipped or refused, or tried again later.
    """
    keys = _ready(now).order_by("pk").values_list("pk", "schedule")[:_MAX_FIRINGS]
    count = 0
    for key, schedule in list(keys):
        if firing := _claim(key, schedule, now):
            _fire(firing, now, start or start_run)
            count += 1
    return count


def start_run(firing: ScheduleFiring) -> Run:
    """Starts the run of the firing, or finds the one already started. Raises ScheduleStopped if the schedule
    must pause, otherwise Refusal.
    """
    schedule = firing.schedule
    if reason := run_as.unusable_reason(schedule) or call.unusable_skill_reason(schedule):
        raise ScheduleStopped(reason)
    actor = run_as.actor_of(schedule)
    key = run_as.idempotency_key(schedule, f"{firing.due:%Y%m%dT%H%M%SZ}")
    if earlier := find_by_idempotency_key(actor, key):
        return earlier
    if not (schedule.skill and may(actor, Action.RUN, skill=schedule.skill)):
        user = schedule.run_as.username if schedule.run_as else "-"
        raise ScheduleStopped(errors.SCHEDULE_ACCESS_LOST.refusal(user=user, skill=schedule.skill_label))
    version, request = call.due_version(schedule, actor), call.request_of(schedule)
    if change := call.changed_expectation(schedule.expected, version, request):
        raise ScheduleStopped(change)
    return request_run(
        actor=actor,
        version=version,
        request=request,
        team=schedule.team,
        idempotency_key=key,
        standing_approval=partial(_standing_approval, schedule),
        kept=uses_of(schedule.files),
    )


def _claim(key: int, schedule: int, now: datetime) -> ScheduleFiring | None:
    """Claims and returns the firing; None if another process has claimed this or another firing of the
    schedule.
    """
    skip_locked = bool(connection.features.has_select_for_update_skip_locked)
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(of=("self",), skip_locked=skip_locked, no_key=True)
        locked = rows.select_related(*_RELATED).filter(pk=schedule).first()
        firing = leases.claim(_ready(now).filter(pk=key), now) if locked else None
    if firing and locked:
        firing.schedule = locked
    return firing


def _ready(now: datetime) -> QuerySet[ScheduleFiring]:
    free = Q(lease_until=None) | leases.expired(now)
    same = ScheduleFiring.objects.filter(schedule=OuterRef("schedule"), lease_until__gte=now)
    rows = ScheduleFiring.objects.filter(free, state=FiringState.PENDING, fire_at__lte=now)
    return rows.filter(~Exists(same), schedule__deleted_at=None)


def _fire(firing: ScheduleFiring, now: datetime, start: Starter) -> None:
    lease = Lease(firing, firing.attempt)
    try:
        outcome = _outcome(firing, start)
    except Refusal as refused:
        if blobs.is_lost(refused):
            lease.release(fire_at=now + _STORAGE_WAIT)
            return
        outcome = FiringOutcome(FiringState.REFUSED, problem=refused.problems[0])
    except ScheduleStopped as stopped:
        problem = stopped.refusal.problems[0]
        announce.pause_by_site(firing.schedule, problem, now)
        outcome = FiringOutcome(FiringState.SKIPPED, problem=problem)
    if outcome.state == FiringState.PENDING:
        lease.release(fire_at=now + _LOOK_AGAIN)
        return
    lease.row().update(
        finished_at=now,
        lease_until=None,
        state=outcome.state,
        run=outcome.run,
        problem=serialize_problem(outcome.problem) if outcome.problem else None,
    )


def _outcome(firing: ScheduleFiring, start: Starter) -> FiringOutcome:
    if firing.attempt > MAX_ATTEMPTS:
        return FiringOutcome(
            FiringState.REFUSED, problem=errors.FIRING_ABANDONED.problem(attempts=MAX_ATTEMPTS)
        )
    return _overlap(firing) or FiringOutcome(FiringState.STARTED, start(firing))


def _overlap(firing: ScheduleFiring) -> FiringOutcome | None:
    """The outcome of the firing if an earlier run prevents its start; None if it may start. Cancels earlier
    runs if the overlap policy is CANCEL.
    """
    schedule = firing.schedule
    runs = Run.objects.filter(firings__schedule=schedule).exclude(status__in=states.ENDED)
    active = list(runs.order_by("pk").values_list("pk", "uid", "status"))
    if waiting := next((uid for _, uid, status in active if status == RunStatus.WAITING_APPROVAL), ""):
        return FiringOutcome(FiringState.SKIPPED, problem=errors.FIRING_APPROVAL.problem(run=waiting))
    if schedule.overlap == OverlapPolicy.PARALLEL:
        return None
    if schedule.overlap == OverlapPolicy.SKIP:
        overlap = errors.FIRING_OVERLAP.problem(run=active[0][1]) if active else None
        return FiringOutcome(FiringState.SKIPPED, problem=overlap) if overlap else None
    earlier = schedule.firings.filter(state=FiringState.PENDING, due__lt=firing.due).count()
    if earlier >= MAX_QUEUED:
        return FiringOutcome(FiringState.SKIPPED, problem=errors.FIRING_QUEUE_FULL.problem(limit=MAX_QUEUED))
    if schedule.overlap == OverlapPolicy.CANCEL:
        for key, _uid, _status in active:
            states.cancel(key)
    return FiringOutcome(FiringState.PENDING) if active or earlier else None


def _standing_approval(schedule: Schedule, run: Run, decision: Decision) -> str:
    """The name of the person who approved a run of this schedule with the same digest, entry and permissions;
    "" if there is none.

    Stores a new match in the schedule. Returns "-" if that person's account no longer exists.
    """
    permissions = decision.requested_permissions.document()
    same = {"digest": run.digest, "entry": run.entry, "permissions": permissions}
    if schedule.approval == same:
        return schedule.approved_by.username if schedule.approved_by else "-"
    rows = Approval.objects.filter(run__firings__schedule=schedule, run__caller=schedule.run_as)
    rows = rows.filter(run__digest=run.digest, run__entry=run.entry, decision__in=_APPROVED)
    for approval in rows.select_related("decided_by").order_by("-pk")[:_MAX_APPROVALS]:
        if approval.requested_permissions == permissions and approval.decided_by:
            changes = {"approval": same, "approved_by": approval.decided_by}
            Schedule.objects.filter(pk=schedule.pk).update(**changes)
            return approval.decided_by.username
    return ""
