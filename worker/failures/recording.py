"""Adds a failed run to its error group, in the transaction that ends the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from registry.models.identity import new_uid
from registry.packages.version_numbers import precedence
from worker.failures import events, sql
from worker.failures.grouping import FailureSignature, kind_of
from worker.models import FAILED_STATUSES, ErrorGroup, ErrorGroupState


@dataclass(frozen=True)
class Failure:
    """A run that failed, with the key of its group."""

    skill_id: int
    version: str
    team_id: int | None
    caller_id: int | None
    kind: FailureSignature
    key: str


def failure_of(
    run: Any, status: str, failure_code: str, message: str = "", cause: Mapping[str, Any] | None = None
) -> Failure | None:
    """The failure of a run that ends with this status; None if it belongs to no group.

    ``run`` is a run or a claim, with its skill, version, team and caller. Runs of test cases belong to no
    group, because a case can expect a failure.
    """
    if status not in FAILED_STATUSES or run.skill_id is None or run.case_name:
        return None
    kind = kind_of(failure_code, message, cause or {})
    key = kind.key(run.skill_id)
    return Failure(run.skill_id, run.version_number, run.team_id, run.caller_id, kind, key)


def record(failure: Failure, at: datetime, *, announce: bool = True) -> None:
    """Counts the failure in its group, with two SQL statements, or more if the group is new or regresses.

    The caller's transaction must end the run and set its ``error_key``, so that each run counts exactly once,
    even if a worker dies. With ``announce``, new and regressed groups send an event.
    """
    kind = failure.kind
    group = sql.count_in_group(
        uid=new_uid(),
        key=failure.key,
        skill_id=failure.skill_id,
        kind=(kind.failure_code, kind.type, kind.message, kind.file),
        at=at,
    )
    sql.count_by_caller(
        group.pk, failure.version, team=failure.team_id or 0, caller=failure.caller_id or 0, at=at
    )
    if not announce:
        return
    if group.failures == 1:
        events.announce(events.CREATED, group.uid, failure)
    elif group.state == ErrorGroupState.RESOLVED and is_since(failure.version, group.resolved_in):
        resolved = ErrorGroup.objects.filter(pk=group.pk, state=ErrorGroupState.RESOLVED)
        if resolved.update(state=ErrorGroupState.REGRESSED, regressed_at=timezone.now()):
            events.announce(events.REGRESSED, group.uid, failure)


def is_since(version: str, first: str) -> bool:
    """Whether the version is ``first`` or newer. True if one of the numbers is not a semantic version."""
    try:
        return precedence(version) >= precedence(first)
    except ValueError:
        return True
