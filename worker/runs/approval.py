"""Runs that wait for approval before they are queued."""

from datetime import timedelta

from django.conf import settings

from registry.rules.decision import Decision
from worker.models import Approval, Run
from worker.queue import states


def request_approval(run: Run, decision: Decision, *, no_cache: bool) -> Approval:
    """Inserts the run as waiting for approval; returns its approval, with the decision's permissions."""
    states.enqueue_for_approval(run)
    return Approval.objects.create(
        run=run,
        requested_permissions=decision.requested_permissions.document(),
        added_permissions=decision.added_permissions.document(),
        unsafe_properties=list(decision.unsafe_properties),
        no_cache=no_cache,
        expires_at=run.created_at + timedelta(hours=settings.SKILLQUAY_APPROVAL_HOURS),
    )
