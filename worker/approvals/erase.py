"""Erases and exports the personal content of approvals."""

from collections.abc import Iterable
from typing import Any

from registry.core.time import rfc3339
from registry.models import User
from worker.approvals.errors import APPROVAL_DENIED
from worker.models import Approval, ApprovalDecision, Run


def erase_runs(keys: Iterable[int]) -> None:
    """Erases reasons and permissions of the runs' approvals; keeps the decisions with user and time."""
    Approval.objects.filter(run__in=keys).update(
        reason="", requested_permissions={}, added_permissions={}, unsafe_properties=[]
    )


def export_person(user: User) -> dict[str, Any]:
    """The decisions that the user made, on any run."""
    rows = Approval.objects.filter(decided_by=user).select_related("run", "rule").order_by("pk")
    return {
        "decisions": [
            {
                "run": row.run.uid,
                "skill": row.run.skill_label,
                "version": row.run.version_number,
                "decision": row.decision,
                "reason": row.reason,
                "rule": str(row.rule) if row.rule else None,
                "at": rfc3339(row.decided_at),
            }
            for row in rows.iterator(chunk_size=100)
        ]
    }


def erase_person(user: User) -> None:
    """Removes the user's name from the runs that they decided; the decisions are kept."""
    for row in Approval.objects.filter(decided_by=user).select_related("run").iterator(chunk_size=100):
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
