"""Erases and exports the personal content of approvals."""

from collections.abc import Iterable
from typing import Any

from registry.core.time import rfc3339
from registry.models import User
from worker.approvals.errors import APPROVAL_DENIED
from worker.models import Approval, ApprovalDecision, Run


def erase_runs(keys: Iterable[int]) -> None:
    """Erases reasons, permissions and unsafe properties from the approvals of runs with these primary keys.

    Keeps the decisions with user and time.
    """
    Approval.objects.filter(run__in=keys).update(
        reason="", requested_permissions={}, added_permissions={}, unsafe_properties=[]
    )


def export_person(user: User) -> dict[str, Any]:
    """The user's decisions, as ``{"decisions": iterator}``."""
    rows = Approval.objects.filter(decided_by=user).select_related("run", "rule").order_by("pk")
    light = rows.defer("run__request", "run__result", "run__files")
    return {"decisions": map(_decision_document, light.iterator(chunk_size=100))}


def erase_person(user: User) -> None:
    """Removes the user's name from the permission and the message of each run that they decided.

    Keeps the approvals with their decisions.
    """
    rows = Approval.objects.filter(decided_by=user).select_related("run")
    light = rows.defer("run__request", "run__result", "run__files")
    for row in light.iterator(chunk_size=100):
        run = row.run
        if run.permission.get("basis") == "approval":
            run.permission = {**run.permission, "name": None}
        if (
            row.decision == ApprovalDecision.DENIED
            and run.failure_code == APPROVAL_DENIED.name
            and run.message
        ):
            run.message = APPROVAL_DENIED.problem(by="-", reason=row.reason).message()
        Run.objects.filter(pk=run.pk).update(permission=run.permission, message=run.message)


def _decision_document(row: Approval) -> dict[str, Any]:
    return {
        "run": row.run.uid,
        "skill": row.run.skill_label,
        "version": row.run.version_number,
        "decision": row.decision,
        "reason": row.reason,
        "rule": str(row.rule) if row.rule else None,
        "at": rfc3339(row.decided_at),
    }
