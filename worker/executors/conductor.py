"""Executes one attempt of a claimed run and records how it ended.

unpack → sandbox (folders, inputs, the call) → executor (worker.executors.by_protocol) → record
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.db import DatabaseError, close_old_connections

from registry import log_context
from registry.additions.additions import Additions, with_additions
from registry.core.errors import UNAVAILABLE
from registry.models import Skill, UseKind
from registry.packages.problems import Refusal
from registry.secrets import run_secrets
from registry.usage.recording import record_use
from worker.attempts import recording, storage_gate
from worker.attempts.additions import additions_of_run
from worker.attempts.context import AttemptContext, AttemptResult, RuntimeEnvironment, sandbox_limits
from worker.attempts.missing_modules import missing_module
from worker.attempts.monitor import AttemptMonitor
from worker.attempts.script_request import request_for_script
from worker.attempts.storage_gate import ServicesUnavailable
from worker.attempts.unpacking import UnpackedPackage, open_package
from worker.core.display_budget import MAX_MEMORY, MAX_ROWS, memory_of
from worker.core.errors import CANCELLED, WORKER_ERROR
from worker.core.sandbox_settings import jobs_folder, sandbox_settings
from worker.core.storable import clean_text
from worker.dependencies import mounts
from worker.dependencies.mounts import DependenciesPending
from worker.dependencies.runtimes.choice import runtime_of_run
from worker.executors.by_protocol import execute_call
from worker.executors.failure_cause import failure_cause, package_folders
from worker.executors.run_status import status_of
from worker.files.working_folder import create_working_folder
from worker.memory import propose as proposing
from worker.protocols import prepare as protocols_prepare
from worker.protocols.call import Call, Cause, Outcome
from worker.queue.claims import Claim
from worker.queue.retries import defer
from worker.queue.states import Verdict, finish
from worker.quotas import team_limits
from worker.sandbox import runtimes
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits import free_space
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import open_scratch
from worker.sandbox.policy import SandboxResult
from worker.sandbox.tiers import available

log = logging.getLogger(__name__)
_MAX_MESSAGE = 20_000  # characters
_TOO_MANY_VALUES = (
    f"{{}}: values that need more than {MAX_MEMORY // 1_000_000} MB of memory were not stored; "
    "write large results to a file in output_dir"
)
_DEFER_S = 5.0  # pause before dependencies or the disk are checked again
_STORAGE_WAIT_S = 60.0  # limit for a run that can't be requeued
_RETRY_PAUSES_S = (0.5, *[1.5] * 18)  # pauses in seconds between attempts to record a finished run


def execute(claim: Claim, *, wait: bool = False) -> bool:
    """Executes a claimed run, and ends or requeues it; returns False if its lease was lost.

    Requeues the run if another worker builds its dependencies, if storage or database can't be reached, or if
    the disk for jobs is almost full. With ``wait``, never requeues: waits for the dependencies and up to 60
    seconds for the storage, and does not check the disk. Raises DatabaseError if the end can't be written.
    """
    with log_context.bind("run", claim.uid, team=str(claim.team_id or "")):
        return _execute(claim, wait=wait)


def _execute(claim: Claim, *, wait: bool) -> bool:
    if not wait and _disk_is_low():
        log.warning("Run %s waits: the disk of %s is almost full", claim.uid, jobs_folder())
        return _retry_on_database_error(lambda: defer(claim, _DEFER_S))
    monitor = AttemptMonitor(claim)
    try:
        result = _attempt_with_storage(claim, monitor, wait=wait)
    except DependenciesPending:
        return _retry_on_database_error(lambda: defer(claim, _DEFER_S))
    except ServicesUnavailable as error:
        if not wait:
            log.warning("Run %s goes back to the queue: %s", claim.uid, error.__cause__)
            return _retry_on_database_error(lambda: defer(claim, 0))
        result = AttemptResult(_refused_outcome(UNAVAILABLE.refusal()))
    except Refusal as error:
        result = AttemptResult(_refused_outcome(error))
    except Exception as error:
        log.exception("Run %s, attempt %d, failed in the platform", claim.uid, claim.attempt)
        reason = getattr(error, "strerror", None) or type(error).__name__
        result = AttemptResult(_refused_outcome(WORKER_ERROR.refusal(reason=reason)))
    if monitor.lost or (result.sandbox_result and result.sandbox_result.ending == "lease_lost"):
        log.warning("Run %s, attempt %d, lost its lease; its result is discarded", claim.uid, claim.attempt)
        return False
    return _record(claim, monitor, result)


def _disk_is_low() -> bool:
    folder = jobs_folder()
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    return free_space.is_low(folder, sandbox_settings().min_free_bytes)


def _attempt_with_storage(claim: Claim, monitor: AttemptMonitor, *, wait: bool) -> AttemptResult:
    """Runs the attempt. With ``wait``, retries it if the storage fails before the script starts.

    Raises ServicesUnavailable if the database failed, or if the storage failed and ``wait`` is False or
    ``_STORAGE_WAIT_S`` has passed.
    """
    while True:
        try:
            return _attempt(claim, monitor, wait=wait)
        except ServicesUnavailable as error:
            if not wait or isinstance(error.__cause__, DatabaseError):
                raise
            if not storage_gate.wait_until_open(monitor.check_stop, seconds=_STORAGE_WAIT_S):
                raise


def _attempt(claim: Claim, monitor: AttemptMonitor, *, wait: bool) -> AttemptResult:
    """Runs one attempt; raises ServicesUnavailable if storage or database fails before the script starts.

    Unless ``wait``, raises DependenciesPending if another worker builds the dependencies. Raises Refusal if
    the script can't start.
    """
    with storage_gate.before_start():
        additions = additions_of_run(claim)
        package, runtime = _open_package(claim, additions, monitor, wait=wait)
    folder = jobs_folder() / f"{claim.uid}-{claim.attempt}"
    job_folder = folder / "job"
    limits = sandbox_limits(Limits(**claim.limits), claim.files)
    scratch = open_scratch(folder, limits, sandbox_settings().max_tmpfs_bytes)
    try:
        with storage_gate.before_start(), monitor.step("sandbox"):
            _make_folders(claim, job_folder, package, monitor)
            request = request_for_script(claim.request, claim.files, package)
            call = protocols_prepare.prepare(
                package.paths, package.manifest, package.profile, request, read=package.read
            )
            granted = claim.grants.get("secrets", {})
            secrets = run_secrets.secret_values(granted, digest=claim.digest, additions=additions)
        attempt = AttemptContext(claim, monitor, package, job_folder, scratch, runtime, secrets)
        result = _start(attempt, call)
        # The run was cancelled while the answer was read, which can't be interrupted.
        if monitor.is_cancelled():
            return AttemptResult(_refused_outcome(CANCELLED.refusal()), result.sandbox_result)
        cause = result.cause or failure_cause(
            result.outcome, result.sandbox_result, folders=package_folders(package.folder)
        )
        outcome = _drop_heavy_values(result.outcome)
        return replace(result, outcome=outcome, cause=cause, interpreter=_interpreter(call))
    finally:
        if scratch:
            scratch.close()
        remove_tree(folder)


def _start(attempt: AttemptContext, call: Call) -> AttemptResult:
    """Executes the call; returns a failed result if the script can't start because a module is missing."""
    problem = missing_module(attempt.package, attempt.claim.digest, call, attempt.runtime)
    if problem is None:
        return execute_call(attempt, call)
    cause = Cause(problem.code, problem.message(), problem.path, problem.line)
    return AttemptResult(_refused_outcome(Refusal(problem)), cause=cause)


def _open_package(
    claim: Claim, additions: Additions, monitor: AttemptMonitor, *, wait: bool
) -> tuple[UnpackedPackage, RuntimeEnvironment]:
    with monitor.step("unpack"):
        package = open_package(claim.digest, check_stop=monitor.check_stop)
    package = replace(package, manifest=with_additions(package.manifest, additions))
    runtime = runtime_of_run(package.manifest.runtime, claim.skill_id, claim.version_number)
    if not mounts.has_needs(package, runtime, additions.library):
        return package, RuntimeEnvironment()
    with monitor.step("dependencies"):
        return package, mounts.prepare_environment(
            package, claim, runtime, additions.library, check_stop=monitor.check_stop, wait=wait
        )


def _make_folders(claim: Claim, folder: Path, package: UnpackedPackage, monitor: AttemptMonitor) -> None:
    jobs_folder().mkdir(mode=0o755, parents=True, exist_ok=True)
    for path in (folder.parent, folder, folder / "output"):
        path.mkdir(mode=0o755)
    create_working_folder(folder, claim.files, package.paths, check_stop=monitor.check_stop)


def _refused_outcome(refusal: Refusal) -> Outcome:
    problem = refusal.problems[0]
    error = {"code": problem.code, "message": problem.message(), "details": {"remedy": problem.remedy()}}
    return Outcome(success=False, failure_code=problem.code, message=problem.message(), error=error)


def _drop_heavy_values(outcome: Outcome) -> Outcome:
    """The outcome without values that are too large to show, and with a warning for each kind removed."""
    left = MAX_MEMORY - memory_of(_answer_values(outcome), limit=MAX_MEMORY)
    if left < 0:
        left = MAX_MEMORY
        error = dict(outcome.error, details=None) if outcome.error else None
        outcome = replace(outcome, output=None, outputs={}, answer=None, error=error, metadata={})
        outcome = replace(outcome, warnings=(*outcome.warnings[:MAX_ROWS], _TOO_MANY_VALUES.format("answer")))
    if memory_of([[step.input, step.output] for step in outcome.steps], limit=left) > left:
        steps = tuple(replace(step, input=None, output=None) for step in outcome.steps)
        outcome = replace(
            outcome, steps=steps, warnings=(*outcome.warnings, _TOO_MANY_VALUES.format("steps"))
        )
    if memory_of(outcome.memory_writes, limit=left) > left:
        warnings = (*outcome.warnings, _TOO_MANY_VALUES.format("memory writes"))
        outcome = replace(outcome, memory_writes=(), warnings=warnings)
    return outcome


def _answer_values(outcome: Outcome) -> list[Any]:
    return [
        outcome.output,
        outcome.outputs,
        outcome.answer,
        outcome.error,
        outcome.metadata,
        outcome.warnings,
        outcome.messages,
    ]


def _record(claim: Claim, monitor: AttemptMonitor, result: AttemptResult) -> bool:
    with monitor.step("record"):
        pieces = monitor.pending_log()
        verdict = _verdict(monitor, result)

    def write() -> None:
        team_limits.count_cpu(claim.team_id, result.sandbox_result.cpu_s if result.sandbox_result else 0)
        recording.write_log(claim, pieces)
        if steps := [*monitor.pending_steps(), *result.outcome.steps]:
            recording.write_steps(claim, steps, first_seq=monitor.stored_steps)
        if result.collection.files or claim.attempt > 1:
            recording.write_artifacts(claim, result.collection.files)
        if result.outcome.memory_writes:
            proposing.propose(claim, result.outcome)

    written = _retry_on_database_error(lambda: finish(claim, verdict, write=write))
    if written:
        _count_use(claim)
    return written


def _retry_on_database_error(write: Callable[[], bool]) -> bool:
    for number, pause in enumerate(_RETRY_PAUSES_S):
        try:
            return write()
        except DatabaseError:
            if number == 0:
                log.warning("Can't write the end of a run; trying again", exc_info=True)
            close_old_connections()
            time.sleep(pause)
    return write()


def _verdict(monitor: AttemptMonitor, result: AttemptResult) -> Verdict:
    outcome, sandbox_result = result.outcome, result.sandbox_result
    cause = result.cause or failure_cause(outcome, None)
    return Verdict(
        status=status_of(outcome.failure_code),
        failure_code=clean_text(outcome.failure_code)[:64],
        message=clean_text(outcome.message)[:_MAX_MESSAGE],
        cause=asdict(cause) if cause else {},
        result=outcome_document(outcome, result.collection.omitted),
        exit_code=sandbox_result.exit_code if sandbox_result else None,
        sandbox=_sandbox_document(result, sandbox_result) if sandbox_result else {},
        network=[asdict(dial) for dial in sandbox_result.network] if sandbox_result else [],
        steps=monitor.steps,
        log_bytes=monitor.log.size,
        progress=monitor.progress,
    )


def _sandbox_document(result: AttemptResult, sandbox_result: SandboxResult) -> dict[str, Any]:
    return {
        "tier": sandbox_result.tier,
        "enforcement": dict(sandbox_result.enforcement),
        "interpreter": result.interpreter,
        "programs": runtimes.system_release(),
        "cpu_ms": round(sandbox_result.cpu_s * 1000),
        "peak_memory": sandbox_result.peak_memory,
    }


def _interpreter(call: Call) -> str:
    name = call.argv[0] if call.argv else ""
    return f"{name} {runtimes.version(name)}".strip() if name in runtimes.installed() else ""


def outcome_document(outcome: Outcome, omitted: Sequence[str] = ()) -> dict[str, Any]:
    """The document for ``Run.result``, with warnings for up to 20 ``omitted`` files.

    Excludes the outcome's steps, which are stored as rows.
    """
    omitted_warnings = (f"not collected: {name}" for name in omitted[:20])
    return {
        "success": outcome.success,
        "output": outcome.output,
        "outputs": outcome.outputs,
        "format": outcome.format,
        "answer": outcome.answer,
        "error": outcome.error,
        "warnings": [*outcome.warnings, *omitted_warnings],
        "token_usage": outcome.token_usage,
        "memory_writes": list(outcome.memory_writes),
        "metadata": outcome.metadata,
        **({"messages": list(outcome.messages), "context": outcome.context} if outcome.messages else {}),
    }


def _count_use(claim: Claim) -> None:
    """Counts a use of the skill, outside the run's transaction because losing a use in a crash is
    harmless.
    """
    if claim.skill_id is None or claim.caller_id is None or claim.case_name:
        return
    try:
        caller, number = f"user:{claim.caller_id}", claim.version_number
        record_use(Skill(pk=claim.skill_id), caller, UseKind.RUN, version=number)
    except DatabaseError:
        log.warning("A use of run %s was not counted", claim.uid, exc_info=True)


def probe() -> None:
    """Probes which sandbox tiers are usable on this machine and logs the result."""
    for tier in available.usable_tiers(sandbox_settings()):
        log.info("Sandbox tier %s: %s", tier.name, "usable" if tier.usable else tier.reason)
