"""Executes runs in this process instead of a worker."""

from __future__ import annotations

from django.db import transaction

from registry.identity.actors import Actor
from registry.models import Version
from worker.core.host import worker_name
from worker.executors.conductor import execute
from worker.models import Run
from worker.protocols.call import Request
from worker.queue import claims
from worker.runs.request import request_run


def request_and_execute(*, actor: Actor, version: Version, request: Request, no_cache: bool = False) -> Run:
    """Requests a run and executes it in this process; returns the run reloaded.

    Claims the run in the transaction that creates it, before any worker can. A run that waits for approval is
    not executed. Raises Refusal like ``request_run``.
    """
    with transaction.atomic():
        run = request_run(actor=actor, version=version, request=request, no_cache=no_cache)
        claim = _claim_here(run)
    return _execute_here(run, claim)


def execute_here(run: Run) -> Run:
    """Executes a queued run in this process with the worker's code; returns the run reloaded.

    Does nothing if the run can't be claimed.
    """
    return _execute_here(run, _claim_here(run))


def _claim_here(run: Run) -> claims.Claim | None:
    return claims.claim_next(worker_name(), run_id=run.pk)


def _execute_here(run: Run, claim: claims.Claim | None) -> Run:
    if claim:
        execute(claim, wait=True)
    run.refresh_from_db()
    return run
