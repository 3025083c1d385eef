"""What an attempt left in its output folder, kept with its result; a cancel is heard meanwhile."""

from __future__ import annotations

from worker import artifacts
from worker.protocols.call import Outcome
from worker.protocols.execute_module import failed
from worker.sandbox.policy import Ended
from worker.ways.values import Attempted, Result


def collected(attempted: Attempted, outcome: Outcome, ended: Ended) -> Result:
    """The result with its files; of one that is cancelled meanwhile none are kept."""
    watch = attempted.watch
    with watch.step("collect"):
        limits, mask = attempted.limits, attempted.mask
        collection = artifacts.keep(attempted.folder, limits, mask=mask, tick=watch.tick)
    if collection is None:
        message = "the run was cancelled while its files were collected"
        watch.mark("collect", "CANCELLED", message)
        return Result(failed("CANCELLED", message, {}), ended)
    return Result(outcome, ended, collection)
