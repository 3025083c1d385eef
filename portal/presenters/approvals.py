"""Presents approval requests, for the run page and the list of requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from portal.presenters.results import inputs_line, inputs_text
from portal.presenters.skill.approval_reason import approval_reason
from portal.presenters.skill.permissions import permission_lines
from registry.core.sql import Reads, count_rows, prepared, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, teams_where
from registry.packages.unsafe_properties import permissions_from_document
from worker.approvals import decide, requests
from worker.core.display_budget import MAX_LISTED
from worker.models import Approval, Run

_MAX_NAMES = 20  # names of each kind of permission in a list of approvals
_MAX_INPUTS = 300  # characters of the inputs in a list that are not folded
_MAX_INPUT_LINES = 4  # lines of the same
_MAX_FOLDED = 24_000  # characters of the folded inputs of a page


def approval_rows(approvals: Iterable[Approval], actor: Actor) -> list[dict[str, Any]]:
    """Table rows of approval requests, with the inputs in one line, and again as text.

    ``inputs`` is None if the actor may not see them, or if they are too long for a list. ``inputs_start`` has
    their first lines; if there are more, ``inputs_all`` has them all, or as many as the page has room for.
    """
    approvals = list(approvals)
    names = requests.exact_rule_names(approvals, actor)
    rows = [_row(approval, actor, names.get(approval.pk), max_names=_MAX_NAMES) for approval in approvals]
    readable = Run.objects.readable_by(actor).filter(pk__in=[row["run"].pk for row in rows])
    may_read = set(readable.values_list("pk", flat=True))
    texts = readable.small_values("request", max_characters=MAX_LISTED)
    for row in rows:
        key = row["run"].pk
        row["inputs"] = inputs_line(texts[key], max_length=_MAX_INPUTS) if key in texts else None
        row["has_long_inputs"] = key in may_read and key not in texts
        if key in texts:
            row |= _inputs(inputs_text(texts[key]), _MAX_FOLDED // len(rows))
    return rows


def _inputs(text: str, max_length: int) -> dict[str, Any]:
    start = "\n".join(text[:_MAX_INPUTS].splitlines()[:_MAX_INPUT_LINES])
    if start == text:
        return {"inputs_start": text}
    return {
        "inputs_start": start,
        "inputs_all": text[:max_length],
        "inputs_omitted": len(text) > max_length,
    }


def _row(
    approval: Approval, actor: Actor, rule_name: str | None, *, max_names: int | None = None
) -> dict[str, Any]:
    """An approval request for templates, without inputs, with the actions that the actor may take.

    ``max_names`` limits the names of each kind of permission.
    """
    run = approval.run
    requested = permissions_from_document(approval.requested_permissions)
    added = permissions_from_document(approval.added_permissions)
    state = requests.state_of(approval)
    left_s = (approval.expires_at - timezone.now()).total_seconds()
    return {
        "record": approval,
        "run": run,
        "state": state,
        "is_waiting": state == "waiting",
        "hours_left": max(0, round(left_s / 3600)),
        "days_left": round(left_s / 86_400),
        "reason": approval_reason(approval),
        "requested": permission_lines(requested, max_names=max_names),
        "added": permission_lines(added, max_names=max_names),
        "rule_name": rule_name,
        "may_decide": decide.may_decide(approval, actor),
        "may_always_allow": rule_name is not None and decide.may_grant(approval, actor),
    }


@reader
def approval_of_run(run: Run, actor: Actor) -> Reads[dict[str, Any] | None]:
    yield (approvals := requests.approvals(actor).filter(run=run)[:1])
    found = next(iter(approvals), None)
    return _row(found, actor, requests.exact_rule_name(found, actor)) if found else None


@reader
def waiting_count(actor: Actor) -> Reads[int | None]:
    """The number of runs that wait for the actor's decision; None if the actor may decide none.

    Reads one queryset, because every page shows the number.
    """
    if not decides_approvals(actor):
        return None
    yield (number := _waiting(actor))
    return next(iter(number), 0)


@prepared
def _waiting(actor: Actor) -> QuerySet[Approval, int]:
    return count_rows(Approval.objects.waiting().decidable_by(actor))


def decides_approvals(actor: Actor) -> bool:
    """Whether the actor may approve runs of at least one team."""
    return bool(actor.is_administrator or teams_where(actor, Action.APPROVE))
