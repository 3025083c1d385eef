"""Meaning and remedy of failure codes, in the reader's language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from portal.presenters.results import one_line
from registry.packages.problems import CODES, code_named, fill_known
from worker.failures.groups import GroupView
from worker.models import Run
from worker.run_views.cause import cause_of, cause_text, extract_params


@dataclass(frozen=True)
class Explanation:
    code: str
    meaning: str
    remedy: str
    known: bool


def explain(
    code: str, params: Mapping[str, object] | None = None, *, message: str = "", remedy: str = ""
) -> Explanation:
    """The translated texts of the code. Their values come from ``params``, otherwise from the stored texts.

    ``message`` and ``remedy`` are the English texts that were stored with the code. For undeclared codes,
    such as a skill's own, the texts are general and ``known`` is False.
    """
    declared = CODES.get(code)
    if declared is None:
        return Explanation(
            code,
            gettext("The skill defines this failure code. See the failure message and the log."),
            gettext("Ask the skill's authors what the code means, or read the skill's documentation."),
            False,
        )
    stored = {
        **(extract_params(declared.remedy, remedy) or {}),
        **(extract_params(declared.message, message) or {}),
    }
    known = {**stored, **(params or {})}
    return Explanation(
        code, fill_known(gettext(declared.message), known), fill_known(gettext(declared.remedy), known), True
    )


def failure_text(run: Run) -> str:
    """The cause of a failed run; the platform's own messages in the reader's language."""
    cause = cause_of(run)
    if cause is None or cause.type != run.failure_code:
        return cause_text(run)
    if only_names_exit(cause.message):
        return gettext("The script ended with exit code %(code)s.") % {"code": run.exit_code}
    if is_standard_message(cause.type, cause.message):
        return explain(cause.type, message=cause.message).meaning
    return cause_text(run)


def group_title(view: GroupView) -> str:
    """The cause of the group's newest run in one line, otherwise ``group_pattern``; "" if there is none or
    the actor can't read it.
    """
    return one_line(failure_text(view.newest) if view.newest else "") or group_pattern(view)


def group_pattern(view: GroupView) -> str:
    """The group's pattern; the platform's own messages in the reader's language."""
    group = view.group
    if not view.readable or group.type:
        return view.pattern
    if only_names_exit(group.message):
        return gettext("The script ended with exit code %(code)s.") % {"code": "<n>"}
    if is_standard_message(group.failure_code, group.message):
        return explain(group.failure_code, message=group.message).meaning
    return view.pattern


def only_names_exit(message: str) -> bool:
    """Whether the message contains only the exit code, which the run's page shows anyway."""
    return _EXIT.fullmatch(message) is not None


_EXIT = re.compile(r"the script ended with exit code (?:\d+|<n>)(?: and no JSON answer)?")


def is_standard_message(code: str, message: str) -> bool:
    """Whether a stored message is only the standard text of its code, regardless of the values in it."""
    return code in CODES and extract_params(code_named(code).message, message) is not None
