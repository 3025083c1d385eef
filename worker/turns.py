"""Whose run is next: of the teams that wait the one with the fewest running, then the longest unserved."""

from __future__ import annotations

from typing import Any

from django.conf import settings

# Reads the least team, then the next one, and so on: as many steps in the index as there are teams.
_WAITING = """
WITH RECURSIVE waiting(team) AS (
       SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id IS NOT NULL
       UNION ALL
       SELECT (SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id > waiting.team)
         FROM waiting WHERE waiting.team IS NOT NULL)
SELECT waiting.team, turn.served_at, limits.concurrent_runs,
       (SELECT count(*) FROM worker_run running
         WHERE running.status = 'running' AND running.team_id = waiting.team AND running.depth = 0)
  FROM waiting LEFT JOIN worker_teamturn turn ON turn.team_id = waiting.team
               LEFT JOIN worker_teamlimits limits ON limits.team_id = waiting.team
 WHERE waiting.team IS NOT NULL
UNION ALL
SELECT NULL, NULL, NULL, 0
 WHERE EXISTS (SELECT 1 FROM worker_run WHERE status = 'queued' AND team_id IS NULL)
"""
_SERVED = """
INSERT INTO worker_teamturn (team_id, served_at) VALUES (%s, %s)
ON CONFLICT (team_id) DO UPDATE SET served_at = excluded.served_at
"""


def teams_in_turn(cursor: Any) -> list[int | None]:
    """The teams with queued runs that may run one more, whose turn it is first; None are runs of no team."""
    cursor.execute(_WAITING)
    default = settings.SKILLQUAY_TEAM_LIMITS["concurrent_runs"]
    free = []
    for team, served_at, own, running in cursor.fetchall():
        most = default if own is None else own
        if not most or running < most:
            free.append((running, str(served_at or ""), team or 0, team))
    return [team for *_order, team in sorted(free)]


def note_served(cursor: Any, team_id: int | None, now: Any) -> None:
    """Its turn is over; two workers that serve one team wait for each other here."""
    if team_id is not None:
        cursor.execute(_SERVED, (team_id, now))


def is_full(cursor: Any, team_id: int | None) -> bool:
    """Whether the team has reached its limit meanwhile, asked after ``note_served``."""
    if team_id is None:
        return False
    cursor.execute(
        "SELECT concurrent_runs FROM worker_teamlimits WHERE team_id = %s",
        (team_id,),
    )
    row = cursor.fetchone()
    most = settings.SKILLQUAY_TEAM_LIMITS["concurrent_runs"] if row is None or row[0] is None else row[0]
    if not most:
        return False
    cursor.execute(
        "SELECT count(*) FROM worker_run WHERE status = 'running' AND team_id = %s AND depth = 0", (team_id,)
    )
    return bool(cursor.fetchone()[0] >= most)
