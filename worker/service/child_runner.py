"""Requests child runs for a parent's caller and executes them in this process. See ``worker.child_runs``."""

from __future__ import annotations

from registry.identity.actors import Actor
from registry.models import Version
from worker.child_runs.lineage import Lineage
from worker.core.host import worker_name
from worker.executors import conductor
from worker.models import Run
from worker.protocols.call import Request
from worker.queue import claims
from worker.queue.claims import Claim
from worker.runs.request import request_run


def request(
    *, actor: Actor, version: Version, request: Request, lineage: Lineage
) -> tuple[Run, Claim | None]:
    """Requests a child run; returns it with its claim, which is None if the run is not queued.

    For example, the run may have been answered from the cache. Raises Refusal like ``request_run``.
    """
    run = request_run(
        actor=actor, version=version, request=request, team=lineage.parent.team, lineage=lineage
    )
    return run, claims.claim_next(worker_name(), run_id=run.pk)


def execute(claim: Claim) -> None:
    """Waits for the child run's dependencies, then executes the run until it ends."""
    conductor.execute(claim, wait=True)
