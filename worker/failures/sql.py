"""SQL that counts failures in error groups: two statements per failed run, safe for concurrent writers."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from registry.core.sql import execute, fetch_all

# Rows of a group are locked after the run's row and before its counts, so that writers can't deadlock.
_COUNT_GROUP = """
INSERT INTO worker_errorgroup (uid, key, skill_id, failure_code, type, message, file, count, first_seen,
       last_seen, state, resolved_in)
VALUES (%s, %s, %s, %s, %s, %s, %s, 1, %s, %s, 'open', '')
ON CONFLICT (key) DO UPDATE SET count = worker_errorgroup.count + 1,
   first_seen = CASE WHEN excluded.first_seen < worker_errorgroup.first_seen
                     THEN excluded.first_seen ELSE worker_errorgroup.first_seen END,
   last_seen = CASE WHEN excluded.last_seen > worker_errorgroup.last_seen
                    THEN excluded.last_seen ELSE worker_errorgroup.last_seen END
RETURNING id, uid, count, state, resolved_in
"""
_COUNT_CALLER = """
INSERT INTO worker_failurecount (group_id, version_number, team_key, caller_key, count, removed, first_seen,
       last_seen)
VALUES (%s, %s, %s, %s, 1, 0, %s, %s)
ON CONFLICT (group_id, version_number, team_key, caller_key) DO UPDATE
   SET count = worker_failurecount.count + 1,
   first_seen = CASE WHEN excluded.first_seen < worker_failurecount.first_seen
                     THEN excluded.first_seen ELSE worker_failurecount.first_seen END,
   last_seen = CASE WHEN excluded.last_seen > worker_failurecount.last_seen
                    THEN excluded.last_seen ELSE worker_failurecount.last_seen END
"""


class CountedGroup(NamedTuple):
    """A group after one more failure; ``failures`` is 1 if the group is new."""

    pk: int
    uid: str
    failures: int
    state: str
    resolved_in: str


def count_in_group(
    *, uid: str, key: str, skill_id: int, kind: tuple[str, str, str, str], at: datetime
) -> CountedGroup:
    """Creates the group with its first failure, or counts another failure. ``uid`` is used for a new group.

    ``kind`` consists of failure code, type, message and file.
    """
    moment = _db_time(at)
    return CountedGroup(*fetch_all(_COUNT_GROUP, (uid, key, skill_id, *kind, moment, moment))[0])


def count_by_caller(group: int, version: str, *, team: int, caller: int, at: datetime) -> None:
    """Counts a failure by version, caller and team; 0 means no caller or team."""
    moment = _db_time(at)
    execute(_COUNT_CALLER, (group, version, team, caller, moment, moment))


def _db_time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
