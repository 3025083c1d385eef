"""Presents approval requests for the run page and the inbox, with what the reader may decide."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from portal.presenters.results import inputs_line
from portal.presenters.skill.permissions import permission_lines
from registry.identity.actors import Actor
from registry.identity.permissions import Action, teams_where
from registry.packages.unsafe_properties import permissions_from_document
from worker.approvals import decide, requests
from worker.models import Approval, Run


def approval_row(approval: Approval, actor: Actor) -> dict[str, Any]:
    """A row for templates. ``inputs`` and ``rule_name`` are None if the reader may not see them."""
    run, rule_name = approval.run, requests.exact_rule_name(approval, actor)
    readable = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    state = requests.state_of(approval)
    left_s = (approval.expires_at - timezone.now()).total_seconds()
    return {
        "record": approval,
        "run": run,
        "state": state,
        "is_waiting": state == "waiting",
        "hours_left": max(0, round(left_s / 3600)),
        "requested": permission_lines(permissions_from_document(approval.requested_permissions)),
        "added": permission_lines(permissions_from_document(approval.added_permissions)),
        "inputs": inputs_line(run.request) if readable else None,
        "rule_name": rule_name,
        "may_decide": decide.may_decide(approval, actor),
        "may_always_allow": rule_name is not None and decide.may_grant(approval, actor),
    }


def approval_of_run(run: Run, actor: Actor) -> dict[str, Any] | None:
    found = requests.approvals(actor).filter(run=run).first()
    return approval_row(found, actor) if found else None


def waiting_count(actor: Actor) -> int | None:
    """Number of runs that wait for the actor's decision; None if the actor may decide none.

    One query, as every page shows it.
    """
    decides = actor.is_administrator or teams_where(actor, Action.APPROVE)
    return Approval.objects.waiting().decidable_by(actor).count() if decides else None
