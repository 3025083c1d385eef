"""Records events in the transactions that cause them. ``expand`` finds their recipients later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from registry.models import Report, Version
from registry.models.identity import new_uid
from worker.delivery import sql
from worker.models import NotificationEvent, NotificationKind, Run, RunStatus, Schedule

_FAILED = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.LOST)


def run_ended(claim: Any, run_id: int, status: str, at: datetime) -> None:
    """Records an event if the run failed, or succeeded after a failure.

    ``claim`` is a claim or a run. Ignores runs of a package's test cases, because a case can expect a
    failure.
    """
    if claim.skill_id is None or claim.case_name:
        return
    if status in _FAILED:
        kind = NotificationKind.RUN_FAILED
    elif status == RunStatus.SUCCEEDED and sql.is_failing(claim.skill_id, claim.team_id):
        kind = NotificationKind.RECOVERED
    else:
        return
    ids = {"skill_id": claim.skill_id, "team_id": claim.team_id, "run_id": run_id}
    sql.insert_run_event(new_uid(), kind.value, at, **ids)


def approval_requested(run: Run) -> None:
    _create(NotificationKind.APPROVAL, run=run, skill=run.skill, team=run.team)


def schedule_missed(schedule: Schedule, count: int) -> None:
    """Records that ``count`` due times of the schedule passed without a run."""
    kind = NotificationKind.SCHEDULE_MISSED
    _create(kind, schedule=schedule, skill=schedule.skill, team=schedule.team, details={"count": count})


def schedule_paused(schedule: Schedule, code: str) -> None:
    """Records that the site paused the schedule because of a problem with this code."""
    kind = NotificationKind.SCHEDULE_PAUSED
    _create(kind, schedule=schedule, skill=schedule.skill, team=schedule.team, details={"code": code})


def version_held(version: Version) -> None:
    skill = version.skill
    _create(NotificationKind.VERSION_HELD, version=version, skill=skill, team=skill.team)


def report_filed(report: Report) -> None:
    version = report.version
    details = {"reason": report.reason}
    _create(
        NotificationKind.REPORT,
        version=version,
        skill=version.skill,
        team=version.skill.team,
        details=details,
    )


def _create(kind: NotificationKind, **fields: Any) -> None:
    NotificationEvent.objects.create(kind=kind, at=timezone.now(), **fields)
