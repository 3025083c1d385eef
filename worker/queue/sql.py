"""SQL of the queue: fair order, claim, heartbeat and finish.

These statements limit the queue's throughput. They bypass the ORM, which builds each statement again for
every call and has no ``UPDATE … RETURNING``.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from registry.core.sql import execute, fetch_all
from worker.core import clock

# Reads the smallest team id, then the next larger one, and so on, with one index look-up per waiting team.
# Counts running runs in an index that contains only these, because a team's history may be long. Team 0
# stands for runs without a team.
_WAITING = """
WITH RECURSIVE waiting(team) AS (
       SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id IS NOT NULL
       UNION ALL
       SELECT (SELECT min(team_id) FROM worker_run WHERE status = 'queued' AND team_id > waiting.team)
         FROM waiting WHERE waiting.team IS NOT NULL),
     ready(team) AS (
       SELECT team FROM waiting WHERE team IS NOT NULL
       UNION ALL
       SELECT 0 WHERE EXISTS (SELECT 1 FROM worker_run WHERE status = 'queued' AND team_id IS NULL)),
     running(team, runs) AS (
       SELECT coalesce(team_id, 0), count(*) FROM worker_run WHERE status = 'running' AND depth = 0
        GROUP BY team_id)
SELECT ready.team, state.served_at, limits.concurrent_runs, coalesce(running.runs, 0)
  FROM ready LEFT JOIN worker_teamqueuestate state ON state.team = ready.team
             LEFT JOIN worker_teamlimits limits ON limits.team_id = ready.team
             LEFT JOIN running ON running.team = ready.team
"""
_RECORD_SERVED = """
INSERT INTO worker_teamqueuestate (team, served_at) VALUES (%s, %s)
ON CONFLICT (team) DO UPDATE SET served_at = excluded.served_at
"""
_NEXT_NUMBER = """
INSERT INTO worker_skillruncounter (skill_id, last_number) VALUES (%s, 1)
ON CONFLICT (skill_id) DO UPDATE SET last_number = worker_skillruncounter.last_number + 1
RETURNING last_number
"""
_RUNNING = "SELECT count(*) FROM worker_run WHERE status = 'running' AND team_id = %s AND depth = 0"
_CLAIM = """
UPDATE worker_run SET status = 'running', attempt = attempt + 1, claim_token = %s, lease_until = {lease},
       started_at = %s, progress = NULL, log_bytes = 0
 WHERE status = 'queued' AND id = (
       SELECT id FROM worker_run WHERE status = 'queued' AND run_after <= %s AND {which}
        ORDER BY run_after, id LIMIT 1 {skip})
RETURNING id, uid, attempt, skill_id, caller_id, team_id, version_number, digest, request, files, limits,
          grants, cache_ttl, case_name
"""
_ATTEMPT = """
INSERT INTO worker_attempt (run_id, number, worker, started_at, status, failure_code, steps, sandbox, network)
VALUES (%s, %s, %s, %s, 'running', '', '[]', '{}', '[]')
"""
_CANCELLATION = "SELECT cancel_requested_at IS NOT NULL FROM worker_run WHERE id = %s AND claim_token = %s"
_FINISH = """
UPDATE worker_run SET status = %s, failure_code = %s, message = %s, cause = %s, error_key = %s, result = %s,
       exit_code = %s, sandbox = %s, log_bytes = %s, progress = %s, finished_at = %s, cache_until = %s,
       lease_until = NULL, claim_token = ''
 WHERE id = %s AND claim_token = %s AND status = 'running'
"""
_FINISH_ATTEMPT = """
UPDATE worker_attempt SET finished_at = %s, status = %s, failure_code = %s, steps = %s, sandbox = %s,
       network = %s
 WHERE run_id = %s AND number = %s
"""


class WaitingTeam(NamedTuple):
    """A team with queued runs; ``limit`` is its own limit of concurrent runs, None if it has none."""

    team: int  # 0 for runs without a team
    served_at: datetime | str | None
    limit: int | None
    running: int


class ClaimedRow(NamedTuple):
    """A claimed run as stored; ``request``, ``files``, ``limits`` and ``grants`` are JSON texts."""

    run_id: int
    uid: str
    attempt: int
    skill_id: int | None
    caller_id: int | None
    team_id: int | None
    version_number: str
    digest: str
    request: str
    files: str
    limits: str
    grants: str
    cache_ttl: int | None
    case_name: str


class Ending(NamedTuple):
    """The end of a run or an attempt; the rows of both store these values."""

    finished_at: datetime
    status: str
    failure_code: str
    sandbox: str  # a JSON object


def waiting_teams() -> list[WaitingTeam]:
    """The teams with queued runs, in no particular order."""
    return [WaitingTeam(*row) for row in fetch_all(_WAITING, ())]


def record_served(team: int, now: datetime) -> None:
    """Records that the team was served. Workers that serve the same team wait for each other in this call."""
    execute(_RECORD_SERVED, (team, _db_time(now)))


def next_run_number(skill_id: int) -> int:
    """The number of the skill's next run; other requests of the skill wait until the transaction ends."""
    return int(fetch_all(_NEXT_NUMBER, (skill_id,))[0][0])


def count_running(team: int) -> int:
    """The number of the team's running runs, without child runs."""
    return int(fetch_all(_RUNNING, (team,))[0][0])


def claim_oldest(token: str, now: datetime, *, run_id: int | None = None, team: int = 0) -> ClaimedRow | None:
    """Claims the given run or the team's oldest runnable one; None if there is none. Only one worker gets the
    run.
    """
    if run_id is not None:
        which, values = "id = %s", [run_id]
    else:
        which, values = ("team_id = %s", [team]) if team else ("team_id IS NULL", [])
    lease, until = (
        ("clock_timestamp() + %s", clock.lease())
        if clock.is_shared()
        else ("%s", _db_time(now + clock.lease()))
    )
    skip = "FOR UPDATE SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    statement = _CLAIM.format(skip=skip, which=which, lease=lease)
    rows = fetch_all(statement, (token, until, _db_time(now), _db_time(now), *values))
    return ClaimedRow(*rows[0]) if rows else None


def insert_attempt(run_id: int, number: int, worker: str, now: datetime) -> None:
    """Inserts the attempt of a claimed run as running."""
    execute(_ATTEMPT, (run_id, number, worker, _db_time(now)))


def cancel_requested(run_id: int, token: str) -> bool | None:
    """Whether cancellation of the claimed run was requested; None if the claim no longer holds."""
    rows = fetch_all(_CANCELLATION, (run_id, token))
    return bool(rows[0][0]) if rows else None


def finish_run(
    run_id: int,
    token: str,
    ending: Ending,
    *,
    message: str,
    cause: str,
    error_key: str,
    result: str | None,
    exit_code: int | None,
    log_bytes: int,
    progress: int | None,
    cache_for: timedelta | None,
) -> bool:
    """Ends the claimed run; returns False if the claim no longer holds. ``cause`` and ``result`` are JSON.

    Other runs can reuse the answer for the time ``cache_for``; None means never.
    """
    until = None if cache_for is None else _db_time(ending.finished_at + cache_for)
    values = (
        *(ending.status, ending.failure_code, message, cause, error_key, result, exit_code, ending.sandbox),
        *(log_bytes, progress, _db_time(ending.finished_at), until, run_id, token),
    )
    return bool(execute(_FINISH, values))


def finish_attempt(run_id: int, number: int, ending: Ending, *, steps: str, network: str) -> None:
    """Ends the attempt; ``steps`` and ``network`` are JSON lists."""
    finished_at = _db_time(ending.finished_at)
    values = (finished_at, ending.status, ending.failure_code, steps, ending.sandbox, network)
    execute(_FINISH_ATTEMPT, (*values, run_id, number))


def _db_time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
