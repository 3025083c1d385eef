"""What is kept of decisions when a run's content goes, or the person who decided."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry.models import User
from registry.moments import moment
from registry.packages.problems import problem
from worker.models import Approval, Choice, Run


def erase_runs(keys: Iterable[int]) -> None:
    """Who decided and when stays; what was said, and what the version asked for, goes."""
    Approval.objects.filter(run__in=keys).update(reason="", asks={}, new={}, unsafe=[])


def export_person(user: User) -> dict[str, Any]:
    """What they decided, on whose runs soever."""
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
                "at": moment(row.decided_at),
            }
            for row in rows.iterator(chunk_size=100)
        ]
    }


def erase_person(user: User) -> None:
    """Their decisions stand as an opaque name's: the name that runs were told goes."""
    for row in Approval.objects.filter(decided_by=user).select_related("run").iterator(chunk_size=100):
        run = row.run
        if run.permission.get("by") == "approval":
            run.permission = {**run.permission, "name": None}
        if row.decision == Choice.DENIED and run.failure_code == "APPROVAL_DENIED" and run.message:
            run.message = problem("APPROVAL_DENIED", by="-", reason=row.reason).message()
        Run.objects.filter(pk=run.pk).update(permission=run.permission, message=run.message)
