"""Runs that end with memory writes, without a sandbox: by the very transaction that ends every run."""

from __future__ import annotations

from registry.identity.actors import Actor
from tests.checks import not_none
from worker.executors.conductor import outcome_document
from worker.memory.propose import propose
from worker.models import RunStatus
from worker.protocols.call import Outcome, Request
from worker.protocols.formats.traces import parse_memory_writes
from worker.queue.claims import claim_next
from worker.queue.states import Verdict, finish
from worker.runs.request import request_run

WRITE = {
    "ownerType": "user",
    "ownerId": None,
    "type": "fact",
    "importance": 3,
    "content": "Alice lives in Graz",
}


def write(content=WRITE["content"], **more):
    return {**WRITE, "content": content, **more}


def end(run, *writes, failure_code="", abp=False):
    """Claims and ends the run as a worker would, with these memory writes in its answer."""
    claim = not_none(claim_next("host:1", run_id=run.pk))
    told, warnings = parse_memory_writes({"memoryWrites": list(writes)}, abp=abp)
    outcome = Outcome(not failure_code, failure_code=failure_code, memory_writes=told, warnings=warnings)
    status = RunStatus.FAILED if failure_code else RunStatus.SUCCEEDED
    verdict = Verdict(status, failure_code, result=outcome_document(outcome))
    assert finish(claim, verdict, write=lambda: propose(claim, outcome) if told else None)
    run.refresh_from_db()
    return run


def ran(version, user, *writes, team=None, inputs=None, **how):
    """A run of that person's, asked for and ended so."""
    request = Request(inputs=inputs or {})
    run = request_run(actor=Actor(user=user), version=version, request=request, team=team)
    return end(run, *writes, **how)
