"""Collects and stores the files that an attempt wrote, unless the run is cancelled."""

import time

from registry.packages.problems import Refusal
from worker.attempts import storage_gate
from worker.attempts.context import AttemptContext, AttemptResult
from worker.core.errors import CANCELLED
from worker.files import artifacts
from worker.files.artifacts import CollectedArtifacts, WrittenFolders
from worker.files.inputs import uses_of
from worker.files.working_folder import OUTPUT, top_folders
from worker.protocols.call import Outcome
from worker.protocols.formats.execute_module import failed_outcome
from worker.sandbox.policy import SandboxResult

STORAGE_WAIT_S = 600.0
_RETRY_S = 1.0


def collect_files(attempt: AttemptContext, outcome: Outcome, sandbox_result: SandboxResult) -> AttemptResult:
    """Stores the files of the output and working folders and returns the result with them.

    If the run must stop meanwhile, the result is CANCELLED, without files. Raises Refusal if the storage
    fails.
    """
    monitor = attempt.monitor
    with monitor.step("collect"):
        collection = _store(attempt)
    if collection is None:
        message = "the run was cancelled while its files were collected"
        monitor.fail_step("collect", CANCELLED.name, message)
        return AttemptResult(failed_outcome(CANCELLED.name, message, {}), sandbox_result)
    return AttemptResult(outcome, sandbox_result, collection)


def _store(attempt: AttemptContext) -> CollectedArtifacts | None:
    """Stores the files; returns None if the run must stop.

    Waits up to ``STORAGE_WAIT_S`` for a lost storage, because a retry would execute the script again.
    """
    check_stop, until = attempt.monitor.check_stop, time.monotonic() + STORAGE_WAIT_S
    folders = WrittenFolders(
        attempt.written_folder, uses_of(attempt.claim.files), [OUTPUT, *top_folders(attempt.package.paths)]
    )
    while True:
        try:
            return artifacts.store_artifacts(
                folders, attempt.limits, mask=attempt.mask, check_stop=check_stop
            )
        except Refusal as error:
            if not storage_gate.close_if_lost(error) or time.monotonic() > until:
                raise
        if check_stop():
            return None
        time.sleep(_RETRY_S)
