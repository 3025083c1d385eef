"""Turns due times into firings. Each due time gets exactly one row, even if several processes
plan at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import connection, transaction
from django.db.models import F, Q

from registry.packages.problems import Problem
from registry.versions.publishing.version_rows import serialize_problem
from worker.delivery import record as delivery
from worker.models import (
    LATE_AFTER,
    CatchUpPolicy,
    FiringState,
    Schedule,
    ScheduleFiring,
    ScheduleState,
)
from worker.schedules import announce, call, errors, run_as
from worker.schedules.timing import timing_of

MAX_CATCH_UP = 100
_MAX_SCHEDULES = 500  # limit per pass
_MAX_MOMENTS = 10_000  # limit per schedule and pass; a longer outage takes several passes


def plan_due(now: datetime) -> int:
    """Creates firings for up to ``_MAX_SCHEDULES`` schedules that are due at ``now``, and computes their next
    due times. Returns the number of planned schedules.
    """
    due = Schedule.objects.due().filter(next_at__lte=now).order_by("next_at")
    keys = list(due.values_list("pk", flat=True)[:_MAX_SCHEDULES])
    return sum(_plan(key, now) for key in keys)


def pause_unusable(now: datetime) -> None:
    """Pauses schedules whose account, token, team or skill can no longer be used, before they are due."""
    gone = Q(run_as=None) | Q(run_as__is_active=False) | Q(team__archived_at__isnull=False)
    gone |= ~Q(token_name="") & (
        Q(token=None) | Q(token__revoked_at__isnull=False) | Q(token__expires_at__lte=now)
    )
    gone |= Q(skill=None) | Q(skill__purged_at__isnull=False) | ~Q(skill__team=F("skill_team"))
    rows = Schedule.objects.due().filter(gone).select_related("run_as", "token", "team", "skill__team")
    for schedule in rows[:_MAX_SCHEDULES]:
        refused = run_as.unusable_reason(schedule) or call.unusable_skill_reason(schedule)
        if refused:
            announce.pause_by_site(schedule, refused.problems[0], now)


def skip_until(schedule: Schedule, now: datetime, problem: Problem) -> None:
    """Records the due times until ``now`` as skipped, but no more than about ``_MAX_MOMENTS``. The schedule's
    row must be locked.
    """
    if schedule.next_at and schedule.next_at <= now:
        moments = [schedule.next_at]
        moments += islice(timing_of(schedule).after(schedule.next_at), _MAX_MOMENTS)
        _record_without_runs(
            schedule, [each for each in moments if each <= now], now, FiringState.SKIPPED, problem
        )


def _plan(key: int, now: datetime) -> bool:
    """Plans one schedule in one transaction; returns False if another process did so first."""
    with transaction.atomic():
        skip_locked = bool(connection.features.has_select_for_update_skip_locked)
        rows = Schedule.objects.due().select_for_update(of=("self",), skip_locked=skip_locked)
        schedule = rows.filter(pk=key, next_at__lte=now).first()
        if schedule is None or schedule.next_at is None:
            return False
        timing = timing_of(schedule)
        moments = [schedule.next_at]
        following: datetime | None = None
        for following in timing.after(schedule.next_at):
            if following > now or len(moments) == _MAX_MOMENTS:
                break
            moments.append(following)
            following = None
        # More due times follow, so those that may still start are left for the next pass.
        if following and following <= now:
            following, moments = moments[-MAX_CATCH_UP], moments[:-MAX_CATCH_UP]
            _record_without_runs(schedule, moments, now, FiringState.MISSED, errors.FIRING_MISSED.problem())
        else:
            _create_firings(schedule, moments, now)
        schedule.next_at = following
        if following is None:
            schedule.state = ScheduleState.FINISHED
        schedule.save(update_fields=["next_at", "state"])
    return True


def _create_firings(schedule: Schedule, moments: Sequence[datetime], now: datetime) -> None:
    timely = [each for each in moments if now - each <= LATE_AFTER]
    late = [each for each in moments if now - each > LATE_AFTER]
    started = len(late) - _count_caught_up(schedule, late, has_timely=bool(timely))
    _record_without_runs(schedule, late[:started], now, FiringState.MISSED, errors.FIRING_MISSED.problem())
    pending = [
        ScheduleFiring(schedule=schedule, due=due, last_due=due, fire_at=due + _jitter(schedule, due))
        for due in [*late[started:], *timely]
    ]
    ScheduleFiring.objects.bulk_create(pending)


def _count_caught_up(schedule: Schedule, late: Sequence[datetime], *, has_timely: bool) -> int:
    """The number of late moments that still start a run. For ``last``, this is 0 if ``has_timely``, because
    the moment that is on time is the last one.
    """
    if schedule.catch_up == CatchUpPolicy.ALL:
        return min(len(late), schedule.catch_up_limit, MAX_CATCH_UP)
    return 1 if schedule.catch_up == CatchUpPolicy.LAST and late and not has_timely else 0


def _record_without_runs(
    schedule: Schedule, moments: Sequence[datetime], now: datetime, state: FiringState, problem: Problem
) -> None:
    """Records moments that start no run as one row. Sends an event and a notification about missed ones."""
    if not moments:
        return
    ScheduleFiring.objects.create(
        schedule=schedule,
        due=moments[0],
        last_due=moments[-1],
        count=len(moments),
        fire_at=moments[0],
        state=state,
        problem=serialize_problem(problem),
        finished_at=now,
    )
    if state == FiringState.MISSED:
        announce.announce(schedule, "missed", count=len(moments), due=moments[0].isoformat())
        delivery.schedule_missed(schedule, len(moments))


def _jitter(schedule: Schedule, due: datetime) -> timedelta:
    """The delay of the start; the same due time always gets the same delay."""
    digest = hashlib.sha256(f"{schedule.uid}:{due.timestamp()}".encode()).digest()
    return timedelta(seconds=int.from_bytes(digest[:8]) % (schedule.jitter_s + 1))
