"""Deciding on a run that waits: by one person, once; by a rule that is made; by time.

Every way takes the team's row first, then runs' by their age, then rules', so that of two who decide at once
one wins and the other is told, and nobody waits for each other; a cancel and time take the run's alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry import audit, rules, texts
from registry.actors import Actor
from registry.events import webhooks
from registry.models import Effect, Rule, Team, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.rule_names import ANY, is_prefix
from registry.permissions import Action, may, require
from worker import states
from worker.approvals.asking import exact_of, find
from worker.models import Approval, Choice, Run, Status
from worker.runs import resume

LONGEST_REASON = 500  # characters
_GRANTING = (Choice.EXACT, Choice.PREFIX)
DECISIONS = (Choice.ONCE, Choice.EXACT, Choice.PREFIX, Choice.DENIED)  # a person's; time alone expires


@transaction.atomic
def decide(approval: Approval, choice: Choice, actor: Actor, *, reason: str = "", rule: bool = False) -> Run:
    """Lets the run start or refuses it; ``rule`` denies the skill from now on too.

    What stands in the way by now (a denial, a held version, a revoked token) refuses the run in spite of an
    allowance. Raises Refused where the actor may not, and where the run waits no more.
    """
    _require(approval, choice, actor)
    approval = _locked(approval, actor, with_others=rule or choice in _GRANTING)
    if choice == Choice.DENIED:
        _deny(approval, actor, texts.plain(reason, field="reason", most=LONGEST_REASON), rule=rule)
    else:
        _allow(approval, choice, actor)
    approval.run.refresh_from_db()
    return approval.run


def _require(approval: Approval, choice: Choice, actor: Actor) -> None:
    team = approval.run.team
    if actor.token:
        raise refuse("FORBIDDEN", action=Action.APPROVE.value)
    require(actor, Action.GRANT if choice in _GRANTING else Action.APPROVE, team=team)


def may_decide(approval: Approval, actor: Actor) -> bool:
    return may(actor, Action.APPROVE, team=approval.run.team)


def may_keep(approval: Approval, actor: Actor) -> bool:
    """Whether the actor may let the skill run from now on."""
    return may(actor, Action.GRANT, team=approval.run.team)


def _locked(approval: Approval, actor: Actor, *, with_others: bool) -> Approval:
    """The approval as it stands now, nobody else's until the transaction ends; with those a rule decides."""
    which, team = Q(pk=approval.run_id), approval.run.team_id
    if team:
        Team.objects.select_for_update(no_key=True).get(pk=team)
        if with_others:
            which |= Q(team=team, status=Status.WAITING_APPROVAL)
    list(Run.objects.select_for_update(of=("self",), no_key=True).filter(which).order_by("pk").only("pk"))
    found = find(approval.run.uid, actor)
    if found.run.status != Status.WAITING_APPROVAL or found.decided_at:
        raise refuse("APPROVAL_DECIDED", status=found.run.status)
    if found.expires_at <= timezone.now():
        raise refuse("APPROVAL_EXPIRED", hours=_hours(found))
    return found


def _allow(approval: Approval, choice: Choice, actor: Actor) -> None:
    try:
        version = _still_runnable(approval)
    except Refused as refused:
        _refuse(approval, choice, actor, refused.problems[0])
        return
    if choice == Choice.ONCE:
        _release(approval, version, choice, actor)
    else:
        _keep(approval, choice, actor)


def _keep(approval: Approval, choice: Choice, actor: Actor) -> None:
    """Makes the rule, which lets this run and every other one start that it covers: see ``follow``."""
    exact = exact_of(approval, actor)
    if exact is None:
        raise refuse("APPROVAL_RULE_IMPOSSIBLE", skill=approval.run.skill_label)
    name = exact + ANY if choice == Choice.PREFIX else exact
    assert approval.run.team
    rules.add_rule(approval.run.team, Effect.ALLOW, name, actor, number=approval.run.version_number)
    if Approval.objects.waiting().filter(pk=approval.pk).exists():  # its time ran out just now: no rule
        raise refuse("APPROVAL_EXPIRED", hours=_hours(approval))


def _deny(approval: Approval, actor: Actor, reason: str, *, rule: bool) -> None:
    by = actor.user.username if actor.user else "-"
    why = problem("APPROVAL_DENIED", by=by, reason=reason)
    _refuse(approval, Choice.DENIED, actor, why, reason=reason)
    if not rule:
        return
    exact = exact_of(approval, actor)
    if exact is None or approval.run.team is None:
        raise refuse("APPROVAL_RULE_IMPOSSIBLE", skill=approval.run.skill_label)
    made = rules.add_rule(approval.run.team, Effect.DENY, exact, actor)
    Approval.objects.filter(pk=approval.pk).update(rule=made)


def _still_runnable(approval: Approval) -> Version:
    """The very version that was asked for, asked about again: what stood in no way then may now."""
    run, token = approval.run, approval.run.token
    ended = token and (token.revoked_at or token.expires_at <= timezone.now())
    if run.caller is None or not run.caller.is_active or ended:
        raise refuse("TOKEN_INVALID")
    if run.skill is None:
        raise refuse("PACKAGE_MISSING")
    version = Version.objects.filter(skill=run.skill, number=run.version_number, digest=run.digest).first()
    if version is None:
        raise refuse("PACKAGE_MISSING")
    if version.is_held:
        raise refuse("VERSION_HELD", version=str(version))
    require(_caller(run), Action.RUN, skill=run.skill)
    rules.require_leave(rules.decide(version, team=run.team, token=token), Actor(user=run.caller))
    return version


def _caller(run: Run) -> Actor:
    """Who asked, with no more than the token has; a webhook's is no row, and gone with the webhook."""
    if run.token is None:
        return webhooks.actor_behind(run.uid)
    return Actor(user=run.caller, token=run.token, scopes=frozenset(run.token.scopes))


def _release(
    approval: Approval,
    version: Version,
    choice: Choice,
    actor: Actor,
    *,
    rule: Rule | None = None,
    permission: dict[str, Any] | None = None,
) -> None:
    run, by = approval.run, actor.user.username if actor.user else None
    run.permission = permission or {"by": "approval", "rule": None, "name": by}
    if not resume(run, manifest_of(version.manifest), fresh=approval.fresh):
        raise refuse("APPROVAL_DECIDED", status=run.status)
    _record(approval, choice, actor, rule=rule)


def _refuse(
    approval: Approval,
    choice: Choice,
    actor: Actor,
    why: Problem,
    *,
    reason: str = "",
    rule: Rule | None = None,
) -> None:
    if not states.refuse_waiting(approval.run_id, why.code, _said(why)):
        raise refuse("APPROVAL_DECIDED", status=approval.run.status)
    _record(approval, choice, actor, reason=reason, rule=rule)


def _said(why: Problem) -> str:
    return why.message() if why.code == "APPROVAL_DENIED" else f"{why.message()} {why.remedy()}"


def _record(
    approval: Approval, choice: Choice, actor: Actor, *, reason: str = "", rule: Rule | None = None
) -> None:
    Approval.objects.filter(pk=approval.pk, decided_at=None).update(
        decided_at=timezone.now(), decided_by=actor.user, decision=choice, reason=reason, rule=rule
    )
    run = approval.run
    more = {"rule": str(rule)} if rule else {}
    audit.record(actor, f"approval.{choice.value}", run.uid, team=run.team, skill=run.skill_label, **more)


def follow(rule: Rule, actor: Actor) -> None:
    """Decides what waits by a rule that stands from now on; in the transaction that made it."""
    for approval in _asked_of(rule):
        run = approval.run
        try:
            version = _still_runnable(approval)
        except Refused as refused:
            if refused.code == "RULE_DENIED" and rule.effect == Effect.DENY:
                _refuse(approval, Choice.DENIED, actor, refused.problems[0], rule=rule)
            continue
        decision = rules.decide(version, team=run.team, token=run.token)
        if rule.effect == Effect.ALLOW and decision.outcome == "allow":
            choice = Choice.PREFIX if is_prefix(rule.name) else Choice.EXACT
            leave = rules.leave_document(decision)
            _release(approval, version, choice, actor, rule=rule, permission=leave)


def _asked_of(rule: Rule) -> Iterator[Approval]:
    """The waiting runs for which the rule's holder is asked, each locked."""
    held = {"run__team": rule.team} if rule.team else {"run__token": rule.token}
    keys = Approval.objects.waiting().filter(**held, expires_at__gt=timezone.now()).order_by("run_id")
    for run_id in list(keys.values_list("run_id", flat=True)):
        Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run_id)
        rows = Approval.objects.waiting().select_related("run__skill__team", "run__team", "run__caller")
        yield from rows.select_related("run__token__team", "run__token__owner").filter(run_id=run_id)


def expire(now: datetime) -> list[str]:
    """Refuses what nobody decided in time; returns the runs' uids. Safe to repeat."""
    due = Approval.objects.waiting().filter(expires_at__lte=now).select_related("run")
    return [approval.run.uid for approval in due if _expired(approval)]


def _expired(approval: Approval) -> bool:
    why = problem("APPROVAL_EXPIRED", hours=_hours(approval))
    with transaction.atomic():
        if not states.refuse_waiting(approval.run_id, why.code, _said(why)):
            return False
        mine = Approval.objects.filter(pk=approval.pk, decided_at=None)
        mine.update(decided_at=timezone.now(), decision=Choice.EXPIRED)
    return True


def _hours(approval: Approval) -> int:
    return round((approval.expires_at - approval.run.created_at).total_seconds() / 3600)
