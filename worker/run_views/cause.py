"""Why a run failed, for commands, API and pages. Only for actors who can read the run's content."""

from typing import Any

from django.utils.translation import gettext

from registry.packages.problems import CODES, code_named
from worker.models import Run, RunStatus
from worker.protocols.call import Cause

FAILED = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.LOST, RunStatus.REFUSED)


def cause_of(run: Run) -> Cause | None:
    """Why the run failed; None if it did not fail or its content was erased.

    If no attempt recorded a cause, for example because the worker was lost, returns the failure code and its
    message.
    """
    if run.status not in FAILED or run.erased_at is not None:
        return None
    if run.cause:
        return Cause(**run.cause)
    return Cause(run.failure_code, run.message or _message_of(run.failure_code))


def cause_document(run: Run) -> dict[str, Any] | None:
    """The cause as ``{type, message, file, line}``; None without one. ``line`` can be None."""
    cause = cause_of(run)
    if cause is None:
        return None
    return {"type": cause.type, "message": cause.message, "file": cause.file, "line": cause.line}


def cause_text(run: Run) -> str:
    """The cause as in "ValueError: no column 'date'", without a type that repeats the failure code; or ""."""
    cause = cause_of(run)
    if cause is None:
        return ""
    kind = "" if cause.type == run.failure_code else cause.type
    return ": ".join(filter(None, (kind, cause.message))) or cause.type


def _message_of(code: str) -> str:
    """The code's message in the reader's language; "" if it needs values."""
    text = code_named(code).message if code in CODES else ""
    return "" if "%(" in text else gettext(text)
