"""A run that somebody has to let: its row, how it is found, what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from registry.actors import Actor
from registry.addresses import absolute
from registry.models import Skill
from registry.moments import moment
from registry.packages.problems import refuse
from registry.packages.rule_names import ANY
from registry.rules import Decision
from worker import states
from worker.models import Approval, ApprovalQuerySet, Run, Status


def ask(run: Run, decision: Decision, *, fresh: bool) -> Approval:
    """Inserts the run as waiting, with what is asked for it; the decision is that of registry.rules."""
    states.wait(run)
    return Approval.objects.create(
        run=run,
        asks=decision.asks.document(),
        new=decision.new.document(),
        unsafe=list(decision.unsafe),
        fresh=fresh,
        expires_at=run.created_at + timedelta(hours=settings.SKILLQUAY_APPROVAL_HOURS),
    )


def approvals(actor: Actor) -> ApprovalQuerySet:
    rows = Approval.objects.visible_to(actor)
    return rows.select_related(
        "run__skill__team", "run__team", "run__caller", "run__token", "decided_by", "rule"
    )


def find(uid: str, actor: Actor) -> Approval:
    """By the run's id; one that the actor may know of."""
    found = approvals(actor).filter(run__uid=uid[:26]).first()
    if found is None:
        raise refuse("NOT_FOUND", what="approval", name=uid[:80])
    return found


def narrowed(rows: ApprovalQuerySet, asked: Mapping[str, Any]) -> ApprovalQuerySet:
    """Those with a ``standing`` (waiting, decided), of a ``skill``, of a ``team``: what is asked of them."""
    if standing := asked.get("standing"):
        waiting = Q(run__status=Status.WAITING_APPROVAL)
        rows = rows.filter(waiting if standing == "waiting" else ~waiting)
    if skill := asked.get("skill"):
        rows = rows.filter(run__in=Run.objects.of_skill(skill))
    if team := asked.get("team"):
        rows = rows.filter(run__team__slug=team)
    return rows


def exact_of(approval: Approval, actor: Actor) -> str | None:
    """The rule that would allow this skill; none where the actor does not see it or there is no team."""
    skill = approval.run.skill
    known = skill and approval.run.team_id and Skill.objects.visible_to(actor).filter(pk=skill.pk).exists()
    return str(skill) if known else None


def standing_of(approval: Approval) -> str:
    """``waiting``, what was decided, or ``cancelled`` where the run was before anybody did."""
    if approval.run.status == Status.WAITING_APPROVAL:
        return "waiting"
    return approval.decision or "cancelled"


def approval_document(approval: Approval, actor: Actor) -> dict[str, Any]:
    """What is asked for and what came of it, as runs, lists and the command tell it."""
    exact = exact_of(approval, actor)
    return {
        "standing": standing_of(approval),
        "page": absolute(f"/runs/{approval.run.uid}/"),
        "expires_at": moment(approval.expires_at),
        "asks": approval.asks,
        "new": approval.new,
        "unsafe_properties": approval.unsafe,
        "exact": exact,
        "prefix": exact + ANY if exact else None,
        "decided_at": moment(approval.decided_at),
        "decided_by": approval.decided_by.username if approval.decided_by else None,
        "reason": approval.reason,
        "rule": approval.rule.uid if approval.rule else None,
    }


def approval_row(approval: Approval, actor: Actor) -> dict[str, Any]:
    """The same with who asks for which run, for lists."""
    run = approval.run
    return {
        "run": run.uid,
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "team": run.team.slug if run.team else None,
        "caller": run.caller.username if run.caller else None,
        "token": run.token_name or None,
        "status": run.status,
        "created_at": moment(run.created_at),
        **approval_document(approval, actor),
    }


def document_of(run: Run, actor: Actor) -> dict[str, Any] | None:
    """What a run's document tells; None where nobody was asked."""
    found = approvals(actor).filter(run=run).first()
    return approval_document(found, actor) if found else None
