"""Schedules and firings as JSON objects, for the API and pages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext

from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.packages.problems import Problem
from worker.core import clock
from worker.files.inputs import uses_of
from worker.models import Schedule, ScheduleFiring, ScheduleState
from worker.schedules.timing import timing_of


def schedule_document(schedule: Schedule, actor: Actor) -> dict[str, Any]:
    """The schedule with its next runs; ``request`` and ``files`` are None unless the actor can read its
    inputs.
    """
    readable = Schedule.objects.readable_by(actor).filter(pk=schedule.pk).exists()
    return {
        **schedule_summary(schedule),
        "version": schedule.version_number or None,
        "digest": schedule.digest or None,
        "channel": schedule.channel or None,
        "request": schedule.request if readable else None,
        "files": file_documents(schedule) if readable else None,
        "jitter_s": schedule.jitter_s,
        "overlap": schedule.overlap,
        "catch_up": schedule.catch_up,
        "catch_up_limit": schedule.catch_up_limit,
        "run_as": schedule.run_as.username if schedule.run_as else None,
        "token": schedule.token_name or None,
        "pause": _pause(schedule) if schedule.state == ScheduleState.PAUSED else None,
        "next_runs": next_runs(schedule),
        "created_by": schedule.created_by.username if schedule.created_by else None,
        "created_at": rfc3339(schedule.created_at),
    }


def schedule_summary(schedule: Schedule) -> dict[str, Any]:
    active = schedule.state == ScheduleState.ACTIVE
    return {
        "id": schedule.uid,
        "name": schedule.name,
        "skill": schedule.skill_label,
        "team": schedule.team.slug if schedule.team else None,
        "state": schedule.state,
        "cron": schedule.cron or None,
        "every_s": schedule.every_s,
        "at": rfc3339(schedule.at),
        "time_zone": schedule.time_zone,
        "next_at": rfc3339(schedule.next_at) if active else None,
        "url": absolute_url(f"/api/v1/schedules/{schedule.uid}"),
        "page_url": absolute_url(f"/schedules/{schedule.uid}/"),
    }


def file_documents(schedule: Schedule) -> list[dict[str, Any]]:
    """The files that the schedule keeps for its runs, in the order of the request."""
    return [
        {
            "place": use.pointer,
            "name": use.path.rpartition("/")[2],
            "size": use.size,
            "digest": use.digest,
            "reference": dict(use.named),
        }
        for use in uses_of(schedule.files)
    ]


def next_runs(schedule: Schedule) -> list[str | None]:
    """The next ten due times, without jitter; none unless the schedule is active."""
    if schedule.state != ScheduleState.ACTIVE:
        return []
    return [rfc3339(each) for each in timing_of(schedule).next_runs(clock.now())]


def stored_problem(document: dict[str, Any] | None) -> dict[str, Any] | None:
    """A stored problem with its texts in the reader's language; None if there is none."""
    return Problem(**document).document(gettext) if document else None


def firing_document(firing: ScheduleFiring) -> dict[str, Any]:
    return {
        "due": rfc3339(firing.due),
        "last_due": rfc3339(firing.last_due),
        "count": firing.count,
        "state": firing.state,
        "late": firing.is_late,
        "fire_at": rfc3339(firing.fire_at),
        "finished_at": rfc3339(firing.finished_at),
        "run": firing.run.uid if firing.run else None,
        "run_status": firing.run.status if firing.run else None,
        "problem": stored_problem(firing.problem),
    }


def _pause(schedule: Schedule) -> dict[str, Any]:
    return {
        "at": rfc3339(schedule.paused_at),
        "by": schedule.paused_by.username if schedule.paused_by else None,
        "reason": schedule.pause_reason,
        "problem": stored_problem(schedule.pause_problem),
    }
