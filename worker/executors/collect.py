"""Collects the files of an attempt's output folder; a cancellation interrupts this."""

from worker.attempts.context import AttemptContext, AttemptResult
from worker.core.errors import CANCELLED
from worker.files import artifacts
from worker.protocols.call import Outcome
from worker.protocols.formats.execute_module import failed_outcome
from worker.sandbox.policy import SandboxResult


def collect_files(attempt: AttemptContext, outcome: Outcome, sandbox_result: SandboxResult) -> AttemptResult:
    """Returns the result with its files; if the run is cancelled meanwhile, CANCELLED and no files."""
    monitor = attempt.monitor
    with monitor.step("collect"):
        limits, mask = attempt.limits, attempt.mask
        collection = artifacts.store_artifacts(
            attempt.written_folder, limits, mask=mask, check_stop=monitor.check_stop
        )
    if collection is None:
        message = "the run was cancelled while its files were collected"
        monitor.fail_step("collect", CANCELLED.name, message)
        return AttemptResult(failed_outcome(CANCELLED.name, message, {}), sandbox_result)
    return AttemptResult(outcome, sandbox_result, collection)
