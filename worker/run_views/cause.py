"""The cause of a run's failure, for commands, API and pages. Show it only to actors who can read the run's
content.
"""

import re
from typing import Any

from django.utils.translation import gettext

from registry.packages.problems import CODES, code_named, fill_known
from worker.models import Run, RunStatus
from worker.protocols.call import Cause

_PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")
FAILED = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.LOST, RunStatus.REFUSED)


def cause_of(run: Run) -> Cause | None:
    """The cause of the run's failure; None if the run did not fail or its content was erased.

    If no attempt recorded a cause, for example because the worker was lost, returns the failure code and its
    message.
    """
    if run.status not in FAILED or run.erased_at is not None:
        return None
    if run.cause:
        return Cause(**run.cause)
    return Cause(run.failure_code, run.message or _message_of(run.failure_code))


def cause_document(run: Run) -> dict[str, Any] | None:
    """The cause as ``{type, message, file, line, remedy}``; None if there is none. ``line`` can be None."""
    cause = cause_of(run)
    if cause is None:
        return None
    place = {"file": cause.file, "line": cause.line}
    return {"type": cause.type, "message": cause.message, **place, "remedy": _remedy_of(run)}


def _remedy_of(run: Run) -> str:
    if run.failure_code not in CODES:
        return ""
    code = code_named(run.failure_code)
    return fill_known(gettext(code.remedy), extract_params(code.message, run.message) or {})


def cause_text(run: Run) -> str:
    """The cause, such as "ValueError: no column 'date'"; "" if there is none. Omits a type that repeats the
    failure code.
    """
    cause = cause_of(run)
    if cause is None:
        return ""
    kind = "" if cause.type == run.failure_code else cause.type
    return ": ".join(filter(None, (kind, cause.message))) or cause.type


def _message_of(code: str) -> str:
    text = code_named(code).message if code in CODES else ""
    return "" if "%(" in text else gettext(text)


def extract_params(template: str, text: str) -> dict[str, str] | None:
    """The values that turn ``template`` into ``text``; None if no values do.

    Ignores final periods. Searches one literal piece after another, in linear time.
    """
    first, *rest = _PLACEHOLDER.split(template.rstrip("."))
    text, at, found = text.rstrip("."), len(first), {}
    if text[:at].lower() != first.lower():
        return None
    for place, (name, piece) in enumerate(zip(rest[::2], rest[1::2], strict=True), 1):
        is_last = place * 2 == len(rest)
        end = len(text) - len(piece) if is_last else text.find(piece, at)
        if end < at or text[end : end + len(piece)] != piece:
            return None
        found[name], at = text[at:end], end + len(piece)
    return found if at == len(text) else None
