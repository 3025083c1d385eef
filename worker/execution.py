"""One attempt of a run, from the claimed row to the finished one.

unpack → sandbox (folders, inputs, the call) → its way (worker.ways) → record
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from registry import secrets, usage
from registry.models import Skill, UseKind
from registry.packages.problems import Refused, refuse
from registry.packages.schemas import with_defaults
from worker import inputs, protocols, recording, sandbox, team_limits
from worker.codes import status_of
from worker.dependencies import placing
from worker.dependencies.placing import NotYet
from worker.memory import proposing
from worker.protocols.call import Outcome, Request
from worker.sandbox.clearing import clear
from worker.states import Claim, Verdict, finish, put_off
from worker.storable import MOST_VALUES, clean_text, is_heavy
from worker.supervision import Supervision
from worker.unpacking import Opened, opened
from worker.ways import Attempted, Result, carry_out
from worker.ways.script import site
from worker.ways.values import Placed

log = logging.getLogger(__name__)
_LONGEST_MESSAGE = 20_000  # characters
_TOO_MANY = f"{{}}: more than {MOST_VALUES} values, not kept; write such an amount to a file in output_dir"
_LATER_S = 5.0  # after which a run looks again whether what it needs is ready
_RECORD_AGAIN_S = (0.5, 2.0, 5.0)  # a finished run is worth waiting for a locked database


def execute(claim: Claim, *, wait: bool = False) -> bool:
    """Executes a claimed run and ends it; False when the lease was lost and nothing was written.

    While others prepare what it needs it goes back into the queue, or waits here where its caller does.
    """
    watch = Supervision(claim)
    try:
        result = _attempt(claim, watch, wait=wait)
    except NotYet:
        return _insistently(lambda: put_off(claim, _LATER_S))
    except Refused as no:
        result = Result(_refused(no))
    except Exception as error:
        log.exception("Run %s, attempt %d, failed in the portal", claim.uid, claim.attempt)
        reason = getattr(error, "strerror", None) or type(error).__name__
        result = Result(_refused(refuse("WORKER_ERROR", reason=reason)))
    if watch.lost or (result.ended and result.ended.ending == "lease_lost"):
        log.warning("Run %s, attempt %d, lost its lease: nothing is written", claim.uid, claim.attempt)
        return False
    return _record(claim, watch, result)


def _attempt(claim: Claim, watch: Supervision, *, wait: bool) -> Result:
    with watch.step("unpack"):
        package = opened(claim.digest, tick=watch.tick)
    placed = Placed()
    if placing.needs_anything(package):
        with watch.step("dependencies"):
            placed = placing.place(package, claim.digest, tick=watch.tick, wait=wait)
    folder = Path(settings.SKILLQUAY_VAR) / "jobs" / f"{claim.uid}-{claim.attempt}"
    try:
        with watch.step("sandbox"):
            _make_folders(claim, folder, watch)
            request = request_for_script(claim.request, claim.files, package)
            call = protocols.prepare(
                package.paths, package.manifest, package.profile, request, read=package.read
            )
            given = secrets.values_of(claim.grants.get("secrets", {}), digest=claim.digest)
        result = carry_out(Attempted(claim, watch, package, folder, placed, given), call)
        if watch.is_cancelled():  # while its answer was read, which nothing interrupts
            return Result(_refused(refuse("CANCELLED")), result.ended)
        return replace(result, outcome=_lightened(result.outcome))
    finally:
        clear(folder)


def _make_folders(claim: Claim, folder: Path, watch: Supervision) -> None:
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    for path in (folder, folder / "input", folder / "output"):
        path.mkdir(mode=0o755)
    inputs.place(claim.files, folder / "input", tick=watch.tick)


def request_for_script(
    document: Mapping[str, Any], files: Iterable[Mapping[str, Any]], package: Opened
) -> Request:
    """The stored request with paths where files and ``output_dir`` are named, and the schema's defaults."""
    asked = Request(**document)
    schema = protocols.input_schema(package.manifest, asked)
    given: Any = with_defaults(schema, asked.inputs) if schema else asked.inputs
    for use in inputs.uses_of(files):
        given = _with(given, use.pointer.split("/")[1:], use.path)
    if "output_dir" in given:
        given = {**given, "output_dir": OUTPUT_DIR}
    return replace(asked, inputs=given)


OUTPUT_DIR = "/job/output"


def _with(value: Any, way: list[str], put: str) -> Any:
    """The value with what lies at the end of the pointer's way replaced."""
    if not way:
        return put
    key = way[0].replace("~1", "/").replace("~0", "~")
    if isinstance(value, list):
        return [_with(item, way[1:], put) if str(i) == key else item for i, item in enumerate(value)]
    return {**value, key: _with(value[key], way[1:], put)}


def _refused(no: Refused) -> Outcome:
    problem = no.problems[0]
    error = {"code": problem.code, "message": problem.message(), "details": {"remedy": problem.remedy()}}
    return Outcome(success=False, failure_code=problem.code, message=problem.message(), error=error)


def _lightened(outcome: Outcome) -> Outcome:
    """The outcome without what no page could show; the log still has what the script printed of it."""
    if is_heavy([outcome.output, outcome.outputs, outcome.answer, outcome.error, outcome.metadata]):
        error = dict(outcome.error, details=None) if outcome.error else None
        outcome = replace(outcome, output=None, outputs={}, answer=None, error=error, metadata={})
        outcome = replace(outcome, warnings=(*outcome.warnings, _TOO_MANY.format("answer")))
    if is_heavy([[step.input, step.output] for step in outcome.steps]):
        steps = tuple(replace(step, input=None, output=None) for step in outcome.steps)
        outcome = replace(outcome, steps=steps, warnings=(*outcome.warnings, _TOO_MANY.format("steps")))
    if is_heavy(outcome.memory_writes):
        warnings = (*outcome.warnings, _TOO_MANY.format("memory writes"))
        outcome = replace(outcome, memory_writes=(), warnings=warnings)
    return outcome


def _record(claim: Claim, watch: Supervision, result: Result) -> bool:
    with watch.step("record"):
        pieces = watch.rest_of_log()
        verdict = _verdict(watch, result)

    def write() -> None:
        team_limits.count_cpu(claim.team_id, result.ended.cpu_s if result.ended else 0)
        recording.write_log(claim, pieces)
        if steps := [*watch.rest_of_steps(), *result.outcome.steps]:
            recording.write_steps(claim, steps, first=watch.noted)
        if result.collection.files or claim.attempt > 1:
            recording.write_artifacts(claim, result.collection.files)
        if result.outcome.memory_writes:
            proposing.propose(claim, result.outcome)

    held = _insistently(lambda: finish(claim, verdict, write=write))
    if held:
        _count_use(claim)
    return held


def _insistently(write: Callable[[], bool]) -> bool:
    for pause in _RECORD_AGAIN_S:
        try:
            return write()
        except DatabaseError:
            log.warning("The end of a run could not be written; trying again", exc_info=True)
            close_old_connections()
            time.sleep(pause)
    return write()


def _verdict(watch: Supervision, result: Result) -> Verdict:
    outcome, ended = result.outcome, result.ended
    return Verdict(
        status=status_of(outcome.failure_code),
        failure_code=clean_text(outcome.failure_code)[:64],
        message=clean_text(outcome.message)[:_LONGEST_MESSAGE],
        result=outcome_document(outcome, result.collection.left_out),
        exit_code=ended.exit_code if ended else None,
        sandbox={"tier": ended.tier, "enforcement": dict(ended.enforcement)} if ended else {},
        network=[asdict(dial) for dial in ended.network] if ended else [],
        steps=watch.steps,
        log_bytes=watch.log.size,
        progress=watch.progress,
    )


def outcome_document(outcome: Outcome, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """What ``Run.result`` keeps of an outcome; its steps are rows."""
    not_kept = (f"not collected from the output folder: {name}" for name in left_out[:20])
    return {
        "success": outcome.success,
        "output": outcome.output,
        "outputs": outcome.outputs,
        "format": outcome.format,
        "answer": outcome.answer,
        "error": outcome.error,
        "warnings": [*outcome.warnings, *not_kept],
        "token_usage": outcome.token_usage,
        "memory_writes": list(outcome.memory_writes),
        "metadata": outcome.metadata,
        **({"messages": list(outcome.messages), "context": outcome.context} if outcome.messages else {}),
    }


def _count_use(claim: Claim) -> None:
    """A use is counted beside the run's end: to miss one in a crash harms nobody."""
    if claim.skill_id is None or claim.caller_id is None:
        return
    try:
        caller, number = f"user:{claim.caller_id}", claim.version_number
        usage.record_use(Skill(pk=claim.skill_id), caller, UseKind.RUN, version=number)
    except DatabaseError:
        log.warning("A use of run %s was not counted", claim.uid, exc_info=True)


def probe() -> None:
    """Finds out which tiers work here, and says so in the worker's log."""
    for tier in sandbox.usable_tiers(site()):
        log.info("Sandbox tier %s: %s", tier.name, "usable" if tier.usable else tier.reason)
