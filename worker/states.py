"""The only writer of ``Run.status``: every change of state is one guarded statement with one winner.

``queued → running → succeeded | failed | timed_out | cancelled | lost``; before them ``waiting_approval``
and ``refused``. The statements of a run's way (claim, finish) are SQL: they are what bounds the queue's rate.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from worker import clock, turns
from worker.models import Attempt, Run, RunQuerySet, Status
from worker.storable import json_text

ENDED = (
    Status.SUCCEEDED,
    Status.FAILED,
    Status.TIMED_OUT,
    Status.CANCELLED,
    Status.LOST,
    Status.REFUSED,
)
WAITING = (Status.QUEUED, Status.WAITING_APPROVAL)


@dataclass(frozen=True)
class Claim:
    """A run that this worker alone may execute, for as long as it renews the lease under ``token``."""

    run_id: int
    uid: str
    token: str
    attempt: int
    skill_id: int | None
    caller_id: int | None
    team_id: int | None
    version_number: str
    digest: str
    request: Mapping[str, Any]
    files: Sequence[Mapping[str, Any]]
    limits: Mapping[str, Any]
    grants: Mapping[str, Any]
    cache_ttl: int | None


@dataclass(frozen=True)
class Verdict:
    """How an attempt ended, as the run's row tells it; ``failure_code`` is "" for success alone."""

    status: Status
    failure_code: str = ""
    message: str = ""
    result: Mapping[str, Any] | None = None
    exit_code: int | None = None
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    network: Sequence[Mapping[str, Any]] = ()  # Dial documents
    steps: Sequence[Mapping[str, Any]] = ()
    log_bytes: int = 0
    progress: int | None = None


@dataclass(frozen=True)
class Heartbeat:
    """What a running attempt learns of its row: whether it still holds it, whether it is to stop."""

    held: bool
    cancel: bool


def queue(run: Run) -> None:
    """Inserts the run as runnable; the caller wakes a worker on commit."""
    run.status = Status.QUEUED
    run.dispatched_at = run.created_at
    run.save(force_insert=True)


def wait(run: Run) -> None:
    """Inserts the run as waiting for somebody's leave: no worker claims it."""
    run.status = Status.WAITING_APPROVAL
    run.save(force_insert=True)


def release(run: Run) -> bool:
    """Makes a waiting run runnable from now on; False when it waits no more. The caller wakes a worker."""
    run.status = Status.QUEUED
    run.run_after = run.dispatched_at = timezone.now()
    changed = ("status", "run_after", "dispatched_at", "permission", "cache_key", "cache_ttl")
    mine = Run.objects.filter(pk=run.pk, status=Status.WAITING_APPROVAL)
    return bool(mine.update(**{name: getattr(run, name) for name in changed}))


def refuse_waiting(run_id: int, failure_code: str, message: str) -> bool:
    """Ends a waiting run that nobody lets run; False when it waits no more."""
    return bool(
        Run.objects.filter(pk=run_id, status=Status.WAITING_APPROVAL).update(
            status=Status.REFUSED, failure_code=failure_code, message=message, finished_at=timezone.now()
        )
    )


def answer_from_cache(run: Run, source: Run) -> None:
    """Stores a run as answered by an earlier success; ``recording`` copies what hangs on that one."""
    is_new = run.pk is None
    run.status, run.cached_from = Status.SUCCEEDED, source
    run.message, run.progress, run.exit_code = source.message, source.progress, source.exit_code
    run.result = {**(source.result or {}), "memory_writes": []}
    run.sandbox, run.log_bytes, run.attempt = source.sandbox, source.log_bytes, source.attempt
    run.started_at = run.finished_at = run.created_at if is_new else run.run_after
    run.save(force_insert=is_new)


_CLAIM = """
UPDATE worker_run SET status = 'running', attempt = attempt + 1, claim_token = %s, lease_until = {lease},
       started_at = %s, progress = NULL, log_bytes = 0
 WHERE status = 'queued' AND id = (
       SELECT id FROM worker_run WHERE status = 'queued' AND run_after <= %s AND {which}
        ORDER BY run_after, id LIMIT 1 {skip})
RETURNING id, uid, attempt, skill_id, caller_id, team_id, version_number, digest, request, files, limits,
          grants, cache_ttl
"""
_ATTEMPT = """
INSERT INTO worker_attempt (run_id, number, worker, started_at, status, failure_code, steps, sandbox, network)
VALUES (%s, %s, %s, %s, 'running', '', '[]', '{}', '[]')
"""


def claim_next(worker: str, *, run_id: int | None = None) -> Claim | None:
    """Takes the run whose turn it is, or the one named; None when there is none. Of many askers one wins."""
    with connection.cursor() as cursor:
        if run_id is not None:
            return _claimed(cursor, worker, "id = %s", (run_id,))
        for turn in turns.in_turn(cursor):
            named = ("team_id = %s", (turn.team,)) if turn.team else ("team_id IS NULL", ())
            with transaction.atomic():
                turns.note_served(cursor, turn, _at(timezone.now()))
                if not turns.is_full(cursor, turn) and (claim := _claimed(cursor, worker, *named)):
                    return claim
                transaction.set_rollback(True)  # it was not served: its turn is still to come
    return None


def _claimed(cursor: Any, worker: str, which: str, named: tuple[int, ...]) -> Claim | None:
    """Takes the oldest runnable run of these, in one statement of which one asker gets the row."""
    now, token = timezone.now(), secrets.token_hex(16)
    locked = connection.features.has_select_for_update_skip_locked
    ends = (
        ("clock_timestamp() + %s", clock.lease()) if clock.is_shared() else ("%s", _at(now + clock.lease()))
    )
    statement = _CLAIM.format(skip="FOR UPDATE SKIP LOCKED" if locked else "", which=which, lease=ends[0])
    with transaction.atomic(savepoint=False):
        cursor.execute(statement, (token, ends[1], _at(now), _at(now), *named))
        row = cursor.fetchone()
        if row is None:
            return None
        key, uid, attempt, skill, caller, team, number, digest, request, files, limits, grants, ttl = row
        cursor.execute(_ATTEMPT, (key, attempt, worker, _at(now)))
    asked, used, held, given = (json.loads(text) for text in (request, files, limits, grants))
    return Claim(key, uid, token, attempt, skill, caller, team, number, digest, asked, used, held, given, ttl)


def heartbeat(claim: Claim) -> Heartbeat:
    """Reads, without writing, whether the claim still holds and whether a cancel was asked for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT cancel_requested_at IS NOT NULL FROM worker_run WHERE id = %s AND claim_token = %s",
            (claim.run_id, claim.token),
        )
        row = cursor.fetchone()
    return Heartbeat(held=row is not None, cancel=bool(row and row[0]))


def renew(claim: Claim) -> bool:
    """Extends the lease; False when another has the run: then nothing more may be written (fencing)."""
    return bool(_held(claim).update(lease_until=Now() + clock.lease()))


def hold(claim: Claim) -> bool:
    """Whether the claim still holds; then it does until the transaction ends, for what is started in it."""
    return bool(_held(claim).select_for_update(of=("self",), no_key=True).values_list("pk"))


_FINISH = """
UPDATE worker_run SET status = %s, failure_code = %s, message = %s, result = %s, exit_code = %s, sandbox = %s,
       log_bytes = %s, progress = %s, finished_at = %s, cache_until = %s, lease_until = NULL, claim_token = ''
 WHERE id = %s AND claim_token = %s AND status = 'running'
"""
_FINISH_ATTEMPT = """
UPDATE worker_attempt SET finished_at = %s, status = %s, failure_code = %s, steps = %s, sandbox = %s,
       network = %s
 WHERE run_id = %s AND number = %s
"""


def finish(claim: Claim, verdict: Verdict, *, write: Callable[[], None]) -> bool:
    """Ends the run and writes what hangs on it, in one transaction; False, and nothing, when fenced off."""
    now = timezone.now()
    keep = claim.cache_ttl is not None and verdict.status == Status.SUCCEEDED
    until = _at(now + timedelta(seconds=claim.cache_ttl or 0)) if keep else None
    sandbox, network = json.dumps(verdict.sandbox), json_text(list(verdict.network))
    result = None if verdict.result is None else json_text(verdict.result)
    why = (verdict.status.value, verdict.failure_code)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _FINISH,
            [
                *(*why, verdict.message, result, verdict.exit_code, sandbox, verdict.log_bytes),
                *(verdict.progress, _at(now), until, claim.run_id, claim.token),
            ],
        )
        if cursor.rowcount == 0:
            return False
        cursor.execute(
            _FINISH_ATTEMPT,
            (_at(now), *why, json_text(verdict.steps), sandbox, network, claim.run_id, claim.attempt),
        )
        write()
    return True


def cancel(run_id: int) -> bool:
    """Ends a waiting run at once and asks a running one to stop, with what it started.

    True when there was something to cancel.
    """
    now = timezone.now()
    cancel_children(run_id)
    for _ in range(3):  # a claim or a requeue may come between the two statements
        waiting = Run.objects.filter(pk=run_id, status__in=WAITING).update(
            status=Status.CANCELLED, failure_code="CANCELLED", finished_at=now, cancel_requested_at=now
        )
        if waiting:
            return True
        running = Run.objects.filter(pk=run_id, status=Status.RUNNING)
        if running.filter(cancel_requested_at=None).update(cancel_requested_at=now) or running.exists():
            return True
        if not Run.objects.filter(pk=run_id, status__in=WAITING).exists():
            return False
    return False


def cancel_children(run_id: int) -> None:
    """Ends what a run started: nobody waits for it any more."""
    for child in Run.objects.filter(parent_id=run_id).exclude(status__in=ENDED).values_list("pk", flat=True):
        cancel(child)


def lapse(now: datetime) -> list[str]:
    """Takes running runs whose lease ran out, by ``worker.clock``, from their dead workers.

    Returns their uids. Safe to repeat.
    """
    lapsed = Run.objects.filter(status=Status.RUNNING, lease_until__lt=now)
    rows = lapsed.values("id", "uid", "claim_token", "attempt", "max_attempts", "cancel_requested_at")
    return [row["uid"] for row in rows if _take_back(row, now)]


def _take_back(row: Mapping[str, Any], now: datetime) -> bool:
    if row["cancel_requested_at"]:
        change: dict[str, Any] = {"status": Status.CANCELLED, "failure_code": "CANCELLED", "finished_at": now}
    elif row["attempt"] < row["max_attempts"]:
        change = {"status": Status.QUEUED, "run_after": now, "dispatched_at": None}
    else:
        change = {"status": Status.LOST, "failure_code": "WORKER_LOST", "finished_at": now}
    with transaction.atomic():
        mine = Run.objects.filter(
            pk=row["id"], status=Status.RUNNING, claim_token=row["claim_token"], lease_until__lt=now
        )
        if not mine.update(claim_token="", lease_until=None, **change):
            return False
        cancel_children(row["id"])
        Attempt.objects.filter(run_id=row["id"], number=row["attempt"], finished_at=None).update(
            status=Status.LOST, failure_code="WORKER_LOST", finished_at=now
        )
    return True


def put_off(claim: Claim, seconds: float) -> bool:
    """Gives a run back that cannot start yet, as if never claimed; False when the lease was lost.

    One that was cancelled meanwhile has ended: in the queue nobody would hear of it until its next turn.
    """
    now = timezone.now()
    back = {"attempt": claim.attempt - 1, "claim_token": "", "lease_until": None, "started_at": None}
    waits = {"status": Status.QUEUED, "run_after": now + timedelta(seconds=seconds), "dispatched_at": None}
    ends = {"status": Status.CANCELLED, "failure_code": "CANCELLED", "finished_at": now}
    with transaction.atomic():
        mine = _held(claim)
        if not mine.filter(cancel_requested_at=None).update(**back, **waits) and not mine.update(
            **back, **ends
        ):
            return False
        Attempt.objects.filter(run_id=claim.run_id, number=claim.attempt).delete()
    return True


def hurry(digests: Collection[str]) -> int:
    """What was put off of these versions is runnable at once; how many runs that are."""
    now = timezone.now()
    waiting = Run.objects.filter(status=Status.QUEUED, digest__in=digests, run_after__gt=now)
    return waiting.update(run_after=now)


def _held(claim: Claim) -> RunQuerySet:
    return Run.objects.filter(pk=claim.run_id, claim_token=claim.token, status=Status.RUNNING)


def _at(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
