"""Requests approval of runs before they are queued."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings

from registry.rules.decision import Decision
from worker.delivery import record as delivery
from worker.models import Approval, Run
from worker.queue import states

StandingApproval = Callable[[Run, Decision], str]
"""Returns the name of the person who approved such a run before, or "" if it must wait for approval."""


def basis(name: str | None) -> dict[str, Any]:
    """The value of ``Run.permission`` for a run that the person with this name approved."""
    return {"basis": "approval", "rule": None, "name": name}


def request_approval(run: Run, decision: Decision, *, no_cache: bool) -> Approval:
    """Inserts the run as waiting for approval, and records a notification. Returns the approval, with the
    decision's permissions.
    """
    states.enqueue_for_approval(run)
    approval = Approval.objects.create(
        run=run,
        requested_permissions=decision.requested_permissions.document(),
        added_permissions=decision.added_permissions.document(),
        unsafe_properties=list(decision.unsafe_properties),
        no_cache=no_cache,
        expires_at=run.created_at + timedelta(hours=settings.SKILLQUAY_APPROVAL_HOURS),
    )
    delivery.approval_requested(run)
    return approval
