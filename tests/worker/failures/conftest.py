from __future__ import annotations

import pytest

from tests.checks import not_none
from worker.models import RunStatus
from worker.queue import claims, states
from worker.queue.states import Verdict


@pytest.fixture
def fail(hello, queue_run):
    """``fail(message, by=…)``: a run of docs/hello that a worker ended as failed."""

    def make(message="no rows", *, version=hello, status=RunStatus.FAILED, type="ValueError", **more):
        run = queue_run(version, **more)
        claim = not_none(claims.claim_next("w", run_id=run.pk))
        cause = {"type": type, "message": message, "file": "scripts/hello.py", "line": 3}
        verdict = Verdict(status, "SCRIPT_FAILED", "exit code 1", cause=cause)
        assert states.finish(claim, verdict, write=lambda: None)
        run.refresh_from_db()
        return run

    return make
