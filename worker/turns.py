"""Whose run is next: of the teams that wait the one with the fewest running, then the longest unserved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings

# Reads the least team, then the next one, and so on: as many steps in the index as there are teams.
# What runs is counted by an index of what runs: a team's history may be long. Team 0 are runs of no team.
_WAITING = """
WITH RECURSIVE waiting(team) AS (
       SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id IS NOT NULL
       UNION ALL
       SELECT (SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id > waiting.team)
         FROM waiting WHERE waiting.team IS NOT NULL),
     asking(team) AS (
       SELECT team FROM waiting WHERE team IS NOT NULL
       UNION ALL
       SELECT 0 WHERE EXISTS (SELECT 1 FROM worker_run WHERE status = 'queued' AND team_id IS NULL)),
     running(team, runs) AS (
       SELECT coalesce(team_id, 0), count(*) FROM worker_run WHERE status = 'running' AND depth = 0
        GROUP BY team_id)
SELECT asking.team, turn.served_at, limits.concurrent_runs, coalesce(running.runs, 0)
  FROM asking LEFT JOIN worker_teamturn turn ON turn.team = asking.team
              LEFT JOIN worker_teamlimits limits ON limits.team_id = asking.team
              LEFT JOIN running ON running.team = asking.team
"""
_SERVED = """
INSERT INTO worker_teamturn (team, served_at) VALUES (%s, %s)
ON CONFLICT (team) DO UPDATE SET served_at = excluded.served_at
"""
_RUNNING = "SELECT count(*) FROM worker_run WHERE status = 'running' AND team_id = %s AND depth = 0"


@dataclass(frozen=True)
class Turn:
    team: int  # 0: runs of no team, which have turns as a team has
    most: int  # of its runs at once; 0: no limit


def in_turn(cursor: Any) -> list[Turn]:
    """The teams with queued runs that may run one more, whose turn it is first."""
    cursor.execute(_WAITING)
    default = settings.SKILLQUAY_TEAM_LIMITS["concurrent_runs"]
    free = []
    for team, served_at, own, running in cursor.fetchall():
        most = (default if own is None else own) if team else 0
        if not most or running < most:
            free.append((running, str(served_at or ""), team, most))
    return [Turn(team, most) for _running, _served, team, most in sorted(free)]


def note_served(cursor: Any, turn: Turn, now: Any) -> None:
    """Its turn is over; two workers that serve one team wait for each other here."""
    cursor.execute(_SERVED, (turn.team, now))


def is_full(cursor: Any, turn: Turn) -> bool:
    """Whether the team has reached its limit meanwhile, asked after ``note_served``."""
    if not turn.most:
        return False
    cursor.execute(_RUNNING, (turn.team,))
    return bool(cursor.fetchone()[0] >= turn.most)
