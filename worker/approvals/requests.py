"""Approval requests: look-up and serialization."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.models import Skill
from registry.packages.rule_names import PREFIX_MARK
from worker.models import Approval, ApprovalQuerySet, Run, RunStatus


def approvals(actor: Actor) -> ApprovalQuerySet:
    """Approvals visible to the actor, without loading the large fields of their runs."""
    rows = Approval.objects.visible_to(actor)
    related = rows.select_related(
        "run__skill__team", "run__team", "run__caller", "run__token", "decided_by", "rule"
    )
    return related.defer("run__request", "run__result", "run__files")


def find(uid: str, actor: Actor) -> Approval:
    """The approval of the run with that uid; raises NOT_FOUND if the actor can't see it."""
    approval = approvals(actor).filter(run__uid=uid[:26]).first()
    if approval is None:
        raise NOT_FOUND.refusal(what="approval", name=uid[:80])
    return approval


def filter_approvals(rows: ApprovalQuerySet, query: Mapping[str, Any]) -> ApprovalQuerySet:
    """Filters by ``state``, ``skill`` and ``team`` (slug), each optional.

    The state is ``waiting`` or ``decided``; the latter includes expired and cancelled requests.
    """
    if state := query.get("state"):
        rows = rows.waiting() if state == "waiting" else rows.exclude(run__status=RunStatus.WAITING_APPROVAL)
    if skill := query.get("skill"):
        rows = rows.filter(run__in=Run.objects.of_skill(skill))
    if team := query.get("team"):
        rows = rows.filter(run__team__slug=team)
    return rows


def exact_rule_names(rows: Iterable[Approval], actor: Actor) -> dict[int, str]:
    """Maps each approval's primary key to the name of its skill, for a rule that matches exactly that skill.

    Omits approvals of runs without a team, and of skills that were deleted or that the actor can't see. Looks
    each skill up, because SQLite would otherwise read all visible skills first.
    """
    found = Approval.objects.filter(pk__in=[row.pk for row in rows], run__team__isnull=False)
    named = found.filter(Exists(Skill.objects.visible_to(actor).filter(pk=OuterRef("run__skill"))))
    columns = named.values_list("pk", "run__skill__team__slug", "run__skill__slug")
    return {key: f"{team}/{slug}" for key, team, slug in columns}


def exact_rule_name(approval: Approval, actor: Actor) -> str | None:
    """The name of the approval's skill for an exact rule; None if ``exact_rule_names`` omits the approval."""
    return exact_rule_names([approval], actor).get(approval.pk)


def state_of(approval: Approval) -> str:
    """The state: ``waiting``, the decision, or ``cancelled`` if the run was cancelled before a decision."""
    if approval.run.status == RunStatus.WAITING_APPROVAL:
        return "waiting"
    return approval.decision or "cancelled"


def approval_document(
    approval: Approval,
    actor: Actor,
    *,
    names: Mapping[int, str] | None = None,
    max_names: int | None = None,
) -> dict[str, Any]:
    """The approval's state, requested permissions and decision as a document of the API.

    For lists, ``names`` is what ``exact_rule_names`` returns for all of them, and ``max_names`` limits the
    names of each kind of permission.
    """
    exact = (exact_rule_names([approval], actor) if names is None else names).get(approval.pk)
    requested, added = approval.requested_permissions, approval.added_permissions
    return {
        "state": state_of(approval),
        "page_url": absolute_url(f"/runs/{approval.run.uid}/"),
        "expires_at": rfc3339(approval.expires_at),
        "requested_permissions": {kind: names[:max_names] for kind, names in requested.items()},
        "added_permissions": {kind: names[:max_names] for kind, names in added.items()},
        "omitted_permissions": sum(len(names) - len(names[:max_names]) for names in requested.values()),
        "unsafe_properties": approval.unsafe_properties,
        "exact_rule": exact,
        "prefix_rule": exact + PREFIX_MARK if exact else None,
        "decided_at": rfc3339(approval.decided_at),
        "decided_by": approval.decided_by.username if approval.decided_by else None,
        "reason": approval.reason,
        "rule": approval.rule.uid if approval.rule else None,
    }


def approval_row(
    approval: Approval,
    actor: Actor,
    *,
    names: Mapping[int, str] | None = None,
    max_names: int | None = None,
) -> dict[str, Any]:
    """The approval's document, with the run that it is about."""
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
        **approval_document(approval, actor, names=names, max_names=max_names),
    }


def find_approval_document(run: Run, actor: Actor) -> dict[str, Any] | None:
    """The document of the run's approval; None if the run needed none or the approval is not visible."""
    approval = approvals(actor).filter(run=run).first()
    return approval_document(approval, actor) if approval else None
