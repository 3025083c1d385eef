"""SQL for events at the end of runs, without the ORM because it must be fast."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from registry.core.sql import execute, fetch_all

_INSERT = """
INSERT INTO worker_notificationevent (uid, kind, at, skill_id, team_id, run_id, details)
VALUES (%s, %s, %s, %s, %s, %s, '{}')
"""
# A failure that is not distributed yet belongs to no streak.
_IS_FAILING = """
SELECT EXISTS (SELECT 1 FROM worker_failurestreak WHERE skill_id = %s AND team_key = %s)
    OR EXISTS (SELECT 1 FROM worker_notificationevent
                WHERE expanded_at IS NULL AND kind = 'run_failed' AND skill_id = %s
                  AND coalesce(team_id, 0) = %s)
"""


def insert_run_event(
    uid: str, kind: str, at: datetime, *, skill_id: int | None, team_id: int | None, run_id: int
) -> None:
    moment = connection.ops.adapt_datetimefield_value(at)
    execute(_INSERT, (uid, kind, moment, skill_id, team_id, run_id))


def is_failing(skill_id: int, team_id: int | None) -> bool:
    """Whether the skill has a failure streak for the team, or a failure that is not distributed yet."""
    team = team_id or 0
    return bool(fetch_all(_IS_FAILING, (skill_id, team, skill_id, team))[0][0])
