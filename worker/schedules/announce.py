"""Sends events about schedules to their teams, pauses schedules on the site's behalf, and skips their
firings.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from registry.events import receive
from registry.identity import audit
from registry.identity.actors import Actor
from registry.packages.problems import Problem
from registry.versions.publishing.version_rows import serialize_problem
from worker.delivery import record as delivery
from worker.models import FiringState, Schedule, ScheduleState
from worker.schedules import errors

_SITE = Actor()


def announce(schedule: Schedule, what: str, **details: Any) -> None:
    """Sends the event ``skillquay.schedule.<what>`` to the schedule's team. The event starts no skill."""
    if schedule.team is None:
        return
    payload = {"schedule": schedule.uid, "name": schedule.name, "skill": schedule.skill_label, **details}
    receive.record(f"skillquay.schedule.{what}", payload, schedule.team, origin=f"schedule:{schedule.uid}")


def pause_by_site(schedule: Schedule, problem: Problem, now: datetime) -> None:
    """Pauses an active schedule because of a problem, and skips its pending firings. Records an audit entry,
    an event and a notification.
    """
    with transaction.atomic():
        changes = {
            "state": ScheduleState.PAUSED,
            "paused_at": now,
            "paused_by": None,
            "pause_reason": "",
            "pause_problem": serialize_problem(problem),
        }
        if Schedule.objects.due().filter(pk=schedule.pk).update(**changes):
            skip_pending(schedule, now)
            audit.record(_SITE, "schedule.pause", schedule.uid, team=schedule.team, reason=problem.code)
            announce(schedule, "paused", code=problem.code, message=problem.message())
            delivery.schedule_paused(schedule, problem.code)
    schedule.refresh_from_db()


def skip_pending(schedule: Schedule, now: datetime) -> None:
    """Skips the firings that are pending and not yet claimed by a process."""
    pending = schedule.firings.filter(state=FiringState.PENDING, lease_until=None)
    problem = serialize_problem(errors.FIRING_PAUSED.problem())
    pending.update(state=FiringState.SKIPPED, finished_at=now, problem=problem)
