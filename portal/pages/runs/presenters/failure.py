"""Presents why a run failed: the cause, the end of the log with its error lines, and related runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from portal.pages.runs.presenters import log as run_log
from portal.pages.runs.presenters.log import LogLine, LogLines
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.models import EntryCommandLine, Version
from worker.models import Run
from worker.protocols.call import Cause
from worker.protocols.errors import USAGE
from worker.protocols.failure_kinds import usage_lines
from worker.run_views.cause import FAILED, cause_of
from worker.run_views.failures import (
    RunReference,
    SimilarFailures,
    first_failure_since_success,
    is_first_of_version,
    last_success,
    similar_failures,
)

_LINES = 20  # number of lines from the end of the log
_TRACE = ("Traceback (most recent call last)", "Stack trace", "Caused by")


@dataclass(frozen=True)
class Failure:
    """The explanation of a failed run, for readers of its content.

    ``lines`` are the last lines of the log, and ``error_lines`` the numbers of those with the error.
    ``usage`` is the script's usage text if the run failed because of its arguments, otherwise "".
    ``success`` is the last success if the actor may read it, and ``first`` the first failure since then.
    ``is_new_version`` says whether ``first`` is the first run of its version that succeeded or failed.
    """

    cause: Cause | None
    url: str  # URL of the line in the package; "" if unknown
    lines: tuple[LogLine, ...]
    error_lines: frozenset[int]
    usage: str
    first: RunReference | None
    is_new_version: bool
    success: RunReference | None
    similar: SimilarFailures


@reader
def failure_of(
    run: Run, actor: Actor, version: Version | None, *, attempt: int, log: LogLines | None = None
) -> Reads[Failure | None]:
    """The explanation of a failed run; None for other runs and for erased ones.

    The caller must check that ``actor`` may read the run, and pass None as ``version`` if the actor can't see
    it. ``log`` is the end of the attempt's log, if the caller has read it.
    """
    if run.status not in FAILED or run.erased_at is not None:
        return None
    cause = cause_of(run)
    lines = (log or run_log.tail(run, attempt, running=False)).lines[-_LINES:]
    url, (first, is_new_version), success, similar = yield from gather(
        _source_url(cause, version),
        _first_failure(run, actor),
        _readable_success(run, actor),
        similar_failures.reads(run, actor),
    )
    return Failure(
        cause=cause,
        url=url,
        lines=lines,
        error_lines=error_lines(lines, cause),
        usage=usage_of(run, lines),
        first=first,
        is_new_version=is_new_version,
        success=success,
        similar=similar,
    )


def usage_of(run: Run, lines: Sequence[LogLine] | None = None) -> str:
    """The usage text of a run that failed because of its arguments: as printed, otherwise from the script.

    Returns "" for other runs. ``lines`` is the end of the log, if the caller has read it.
    """
    if run.failure_code != USAGE.name or run.erased_at is not None:
        return ""
    if lines is None:
        lines = run_log.tail(run, max(run.attempt, 1), running=False).lines[-_LINES:]
    printed = usage_lines([line.text for line in lines])
    if len(printed) > 1 or run.skill_id is None:
        return "\n".join(printed)
    entries = EntryCommandLine.objects.filter(version__skill=run.skill_id, version__digest=run.digest)
    entry = entries.filter(path=run.entry).first()
    return (entry.command_line.usage if entry else "") or "\n".join(printed)


def _source_url(cause: Cause | None, version: Version | None) -> Reads[str]:
    """The address of the line that raised the error, if its file is in the package."""
    if cause is None or version is None or not cause.file:
        return ""
    yield (files := version.files.filter(path=cause.file))
    if not files:
        return ""
    skill = version.skill
    address = reverse("file", args=[skill.team.slug, skill.slug, version.number, cause.file])
    return f"{address}#L{cause.line}" if cause.line else address


def error_lines(lines: Sequence[LogLine], cause: Cause | None) -> frozenset[int]:
    """The numbers of the lines with the cause and with its stack trace. The last matching line counts."""
    first = cause.message.partition("\n")[0].strip() if cause else ""
    wanted = first or (cause.type if cause else "")
    if not wanted:
        return frozenset()
    at = next((n for n in range(len(lines) - 1, -1, -1) if wanted in lines[n].text), None)
    if at is None:
        return frozenset()
    start = at
    while start and _is_trace(lines[start - 1].text):
        start -= 1
    end = at + 1
    while end < len(lines) and lines[end].text[:4] == "    " and lines[end].text.lstrip().startswith("at "):
        end += 1
    return frozenset(line.number for line in lines[start:end])


def _is_trace(text: str) -> bool:
    return text.startswith(("  ", *_TRACE))


def _first_failure(run: Run, actor: Actor) -> Reads[tuple[RunReference | None, bool]]:
    """The first failure since the last success, and whether it is the first outcome of its version."""
    found = yield from first_failure_since_success.reads(run, actor)
    return found, bool(found and (yield from is_first_of_version.reads(found, run, actor)))


def _readable_success(run: Run, actor: Actor) -> Reads[RunReference | None]:
    """The last success that the actor can see, if the actor may read it."""
    found = yield from last_success.reads(run, actor)
    if found is None:
        return None
    yield (readable := Run.objects.readable_by(actor).filter(uid=found.uid).values("pk"))
    return found if readable else None
