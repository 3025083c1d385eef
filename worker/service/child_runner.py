"""Child runs, requested for a parent's caller and executed in this process: see ``worker.child_runs``."""

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
    """The child run and its claim; no claim if the run was answered from the cache or refused."""
    run = request_run(
        actor=actor, version=version, request=request, team=lineage.parent.team, lineage=lineage
    )
    return run, claims.claim_next(worker_name(), run_id=run.pk)


def execute(claim: Claim) -> None:
    """Waits for the child run's dependencies, then executes it until it ends."""
    conductor.execute(claim, wait=True)
