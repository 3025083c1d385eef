"""Claims: the runs that a worker may execute, under a lease that it renews."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from worker.core import clock
from worker.models import Run, RunQuerySet, RunStatus
from worker.queue import fair_queue, sql


@dataclass(frozen=True)
class Claim:
    """A run that only this worker may execute, as long as it renews the lease under ``token``."""

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
    case_name: str


@dataclass(frozen=True)
class Heartbeat:
    """The result of a heartbeat: whether the attempt still holds its run, and whether it must stop."""

    held: bool
    cancel: bool


def claim_next(worker: str, *, run_id: int | None = None) -> Claim | None:
    """Claims the next runnable run in fair order and starts its attempt; None if there is none.

    With ``run_id``, claims only that run and ignores its team's limit. Only one worker gets a run.
    """
    if run_id is not None:
        return _claim_oldest(worker, run_id=run_id)
    for ready_team in fair_queue.ready_teams():
        with transaction.atomic():
            sql.record_served(ready_team.team, timezone.now())
            if not fair_queue.has_reached_limit(ready_team) and (
                claim := _claim_oldest(worker, team=ready_team.team)
            ):
                return claim
            transaction.set_rollback(True)  # the team was not served, so it keeps its place in the order
    return None


def _claim_oldest(worker: str, *, run_id: int | None = None, team: int = 0) -> Claim | None:
    """Claims the given run or the team's oldest runnable one, and starts its attempt; None if there
    is none.
    """
    now, token = timezone.now(), secrets.token_hex(16)
    with transaction.atomic(savepoint=False):
        row = sql.claim_oldest(token, now, run_id=run_id, team=team)
        if row is None:
            return None
        sql.insert_attempt(row.run_id, row.attempt, worker, now)
    documents = {name: json.loads(getattr(row, name)) for name in ("request", "files", "limits", "grants")}
    return Claim(token=token, **{**row._asdict(), **documents})


def heartbeat(claim: Claim) -> Heartbeat:
    """Reads whether the claim still holds and whether cancellation was requested; writes nothing."""
    cancel = sql.cancel_requested(claim.run_id, claim.token)
    return Heartbeat(held=cancel is not None, cancel=bool(cancel))


def renew(claim: Claim) -> bool:
    """Extends the lease. Returns False if the claim is lost; the worker must then write nothing more."""
    return bool(claimed_run(claim).update(lease_until=Now() + clock.lease()))


def lock_claim(claim: Claim) -> bool:
    """Locks the run until the transaction ends; returns whether the claim still holds."""
    return bool(claimed_run(claim).select_for_update(of=("self",), no_key=True).values_list("pk"))


def claimed_run(claim: Claim) -> RunQuerySet:
    return Run.objects.filter(pk=claim.run_id, claim_token=claim.token, status=RunStatus.RUNNING)
