"""Approval requests: look-up and serialization."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.models import Skill
from registry.packages.rule_names import PREFIX_MARK
from worker.models import Approval, ApprovalQuerySet, Run, RunStatus


def approvals(actor: Actor) -> ApprovalQuerySet:
    rows = Approval.objects.visible_to(actor)
    return rows.select_related(
        "run__skill__team", "run__team", "run__caller", "run__token", "decided_by", "rule"
    )


def find(uid: str, actor: Actor) -> Approval:
    """The approval of the run with that uid, if visible to the actor; raises NOT_FOUND."""
    approval = approvals(actor).filter(run__uid=uid[:26]).first()
    if approval is None:
        raise NOT_FOUND.refusal(what="approval", name=uid[:80])
    return approval


def filter_approvals(rows: ApprovalQuerySet, query: Mapping[str, Any]) -> ApprovalQuerySet:
    """Filters by ``state`` (waiting, decided), ``skill`` and ``team``, each optional."""
    if state := query.get("state"):
        waiting = Q(run__status=RunStatus.WAITING_APPROVAL)
        rows = rows.filter(waiting if state == "waiting" else ~waiting)
    if skill := query.get("skill"):
        rows = rows.filter(run__in=Run.objects.of_skill(skill))
    if team := query.get("team"):
        rows = rows.filter(run__team__slug=team)
    return rows


def exact_rule_name(approval: Approval, actor: Actor) -> str | None:
    """The skill's name for a rule that allows it; None without a team or if the actor can't see the skill."""
    skill = approval.run.skill
    known = skill and approval.run.team_id and Skill.objects.visible_to(actor).filter(pk=skill.pk).exists()
    return str(skill) if known else None


def state_of(approval: Approval) -> str:
    """``waiting``, the decision, or ``cancelled`` if the run was cancelled before a decision."""
    if approval.run.status == RunStatus.WAITING_APPROVAL:
        return "waiting"
    return approval.decision or "cancelled"


def approval_document(approval: Approval, actor: Actor) -> dict[str, Any]:
    """The requested permissions and the decision as a document."""
    exact = exact_rule_name(approval, actor)
    return {
        "state": state_of(approval),
        "page_url": absolute_url(f"/runs/{approval.run.uid}/"),
        "expires_at": rfc3339(approval.expires_at),
        "requested_permissions": approval.requested_permissions,
        "added_permissions": approval.added_permissions,
        "unsafe_properties": approval.unsafe_properties,
        "exact_rule": exact,
        "prefix_rule": exact + PREFIX_MARK if exact else None,
        "decided_at": rfc3339(approval.decided_at),
        "decided_by": approval.decided_by.username if approval.decided_by else None,
        "reason": approval.reason,
        "rule": approval.rule.uid if approval.rule else None,
    }


def approval_row(approval: Approval, actor: Actor) -> dict[str, Any]:
    """The approval's document with its run and caller, for lists."""
    run = approval.run
    return {
        "run": run.uid,
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "team": run.team.slug if run.team else None,
        "caller": run.caller.username if run.caller else None,
        "token": run.token_name or None,
        "run_status": run.status,
        "created_at": rfc3339(run.created_at),
        **approval_document(approval, actor),
    }


def find_approval_document(run: Run, actor: Actor) -> dict[str, Any] | None:
    """The document of the run's approval; None if the run needed none or the approval is not visible."""
    approval = approvals(actor).filter(run=run).first()
    return approval_document(approval, actor) if approval else None
