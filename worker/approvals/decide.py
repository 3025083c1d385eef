"""Decisions on waiting runs: by a person, by a new rule, or by expiry.

A person's or rule's decision first locks the row of the team, or of the token if the rule belongs to a token.
Then it locks the runs, oldest first. So one of two concurrent decisions wins, the other gets an error, and no
deadlock is possible. Cancellation and expiry lock only the run.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry.additions.additions import additions_from_document, with_additions
from registry.core import text
from registry.events import webhooks
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, TOKEN_INVALID
from registry.identity.permissions import Action, may, require
from registry.lookup.errors import VERSION_HELD
from registry.models import Effect, Rule, Team, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.problems import Problem, Refusal
from registry.packages.rule_names import PREFIX_MARK, is_prefix
from registry.packages.unsafe_properties import permissions_from_document
from registry.rules import decision as rules_decision
from registry.rules import edit
from registry.rules.errors import RULE_DENIED
from registry.rules.requested_permissions import version_permissions
from worker.approvals import errors
from worker.approvals.requests import exact_rule_name, find
from worker.attempts.errors import PACKAGE_MISSING
from worker.models import Approval, ApprovalDecision, Run, RunStatus
from worker.queue import states
from worker.runs.approval import basis
from worker.runs.request import resume
from worker.schedules import run_as

MAX_REASON = 500  # characters
_RULE_CHOICES = (ApprovalDecision.EXACT, ApprovalDecision.PREFIX)
DECISIONS = (
    ApprovalDecision.ONCE,
    ApprovalDecision.EXACT,
    ApprovalDecision.PREFIX,
    ApprovalDecision.DENIED,
)  # decisions that a person can make; only ``expire`` sets EXPIRED


@transaction.atomic
def decide(
    approval: Approval, choice: ApprovalDecision, actor: Actor, *, reason: str = "", rule: bool = False
) -> Run:
    """Releases or refuses the waiting run, and returns it reloaded.

    ``EXACT`` and ``PREFIX`` also create an allow rule; ``rule`` makes a denial create a deny rule. A new rule
    also decides the team's other waiting runs that it covers. An approved run is refused if it can no longer
    start, for example because of a deny rule or a revoked token. Raises Refusal, for example if the actor
    lacks permission, the run no longer waits or ``reason`` is invalid.
    """
    _require(approval, choice, actor)
    approval = _lock(approval, actor, with_others=rule or choice in _RULE_CHOICES)
    if choice == ApprovalDecision.DENIED:
        _deny(approval, actor, text.validated(reason, field="reason", max_length=MAX_REASON), rule=rule)
    else:
        _allow(approval, choice, actor)
    approval.run.refresh_from_db()
    return approval.run


def _require(approval: Approval, choice: ApprovalDecision, actor: Actor) -> None:
    team = approval.run.team
    if actor.token:
        raise FORBIDDEN.refusal(action=Action.APPROVE.value)
    require(actor, Action.GRANT if choice in _RULE_CHOICES else Action.APPROVE, team=team)


def may_decide(approval: Approval, actor: Actor) -> bool:
    return may(actor, Action.APPROVE, team=approval.run.team)


def may_grant(approval: Approval, actor: Actor) -> bool:
    """Whether the actor may create a rule that always allows the skill for the run's team."""
    return may(actor, Action.GRANT, team=approval.run.team)


def _lock(approval: Approval, actor: Actor, *, with_others: bool) -> Approval:
    """Locks the team and the run and, if ``with_others``, the team's other waiting runs.

    Returns the approval reloaded. Raises NOT_FOUND if the actor can't see it, APPROVAL_DECIDED if the run no
    longer waits, and APPROVAL_EXPIRED after its deadline.
    """
    which, team = Q(pk=approval.run_id), approval.run.team_id
    if team:
        Team.objects.select_for_update(no_key=True).get(pk=team)
        if with_others:
            which |= Q(team=team, status=RunStatus.WAITING_APPROVAL)
    list(Run.objects.select_for_update(of=("self",), no_key=True).filter(which).order_by("pk").only("pk"))
    approval = find(approval.run.uid, actor)
    if approval.run.status != RunStatus.WAITING_APPROVAL or approval.decided_at:
        raise _decided(approval.run)
    if approval.expires_at <= timezone.now():
        raise errors.APPROVAL_EXPIRED.refusal(hours=_hours(approval))
    return approval


def _decided(run: Run) -> Refusal:
    return errors.APPROVAL_DECIDED.refusal(status=text.choice_label(RunStatus(run.status)))


def _allow(approval: Approval, choice: ApprovalDecision, actor: Actor) -> None:
    try:
        version = _require_runnable(approval)
    except Refusal as refused:
        _refuse(approval, choice, actor, refused.problems[0])
        return
    if choice == ApprovalDecision.ONCE:
        _release(approval, version, choice, actor)
    else:
        _grant_rule(approval, choice, actor)


def _grant_rule(approval: Approval, choice: ApprovalDecision, actor: Actor) -> None:
    """Creates the allow rule, which also starts every waiting run that it covers: see ``apply_rule``.

    Raises APPROVAL_RULE_IMPOSSIBLE if no rule can name the skill, APPROVAL_OUTDATED if its permissions have
    grown, APPROVAL_EXPIRED after the deadline, and the refusals of ``add_rule``.
    """
    exact = exact_rule_name(approval, actor)
    if exact is None:
        raise errors.APPROVAL_RULE_IMPOSSIBLE.refusal(skill=approval.run.skill_label)
    _require_same_permissions(approval)
    name = exact + PREFIX_MARK if choice == ApprovalDecision.PREFIX else exact
    assert approval.run.team
    edit.add_rule(approval.run.team, Effect.ALLOW, name, actor, number=approval.run.version_number)
    if Approval.objects.waiting().filter(pk=approval.pk).exists():  # it expired meanwhile: roll back the rule
        raise errors.APPROVAL_EXPIRED.refusal(hours=_hours(approval))


def _require_same_permissions(approval: Approval) -> None:
    """Raises APPROVAL_OUTDATED if the version now requests more permissions than the approval showed.

    A later addition can increase the permissions of a published version.
    """
    run = approval.run
    version = Version.objects.filter(skill=run.skill, number=run.version_number).first()
    shown = permissions_from_document(approval.requested_permissions)
    if version and version_permissions(version).beyond(shown):
        raise errors.APPROVAL_OUTDATED.refusal(version=str(version))


def _deny(approval: Approval, actor: Actor, reason: str, *, rule: bool) -> None:
    by = actor.user.username if actor.user else "-"
    why = errors.APPROVAL_DENIED.problem(by=by, reason=reason)
    _refuse(approval, ApprovalDecision.DENIED, actor, why, reason=reason)
    if not rule:
        return
    exact = exact_rule_name(approval, actor)
    if exact is None or approval.run.team is None:
        raise errors.APPROVAL_RULE_IMPOSSIBLE.refusal(skill=approval.run.skill_label)
    created = edit.add_rule(approval.run.team, Effect.DENY, exact, actor)
    Approval.objects.filter(pk=approval.pk).update(rule=created)


def _require_runnable(approval: Approval) -> Version:
    """The requested version. Raises a refusal if caller, token, package or rules no longer permit the run."""
    run, token = approval.run, approval.run.token
    token_ended = token and (token.revoked_at or token.expires_at <= timezone.now())
    if run.caller is None or not run.caller.is_active or token_ended:
        raise TOKEN_INVALID.refusal()
    if run.skill is None:
        raise PACKAGE_MISSING.refusal()
    version = Version.objects.filter(skill=run.skill, number=run.version_number, digest=run.digest).first()
    if version is None:
        raise PACKAGE_MISSING.refusal()
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version))
    require(_caller(run), Action.RUN, skill=run.skill)
    rules_decision.require_allowed_for(
        rules_decision.decide(version, team=run.team, token=token), Actor(user=run.caller)
    )
    return version


def _caller(run: Run) -> Actor:
    """The actor that started the run, with the token's current scopes.

    Tokens of webhooks and schedules are not stored, so a run without a token gets the actor of its schedule
    or webhook. Raises WEBHOOK_GONE if the webhook was deleted, TOKEN_INVALID if the token was, and the
    refusals of ``run_as.actor_of``.
    """
    if run.token is None:
        actor = run_as.actor_of_run(run) or webhooks.actor_of_run(run.uid)
        if actor is None:
            raise TOKEN_INVALID.refusal()
        return actor
    return Actor(user=run.caller, token=run.token, scopes=frozenset(run.token.scopes))


def _release(
    approval: Approval,
    version: Version,
    choice: ApprovalDecision,
    actor: Actor,
    *,
    rule: Rule | None = None,
    permission: dict[str, Any] | None = None,
) -> None:
    run, by = approval.run, actor.user.username if actor.user else None
    run.permission = permission or basis(by)
    additions = additions_from_document(run.grants.get("additions", {}))
    manifest = with_additions(manifest_of(version.manifest), additions)
    if not resume(run, manifest, no_cache=approval.no_cache):
        raise _decided(run)
    _record(approval, choice, actor, rule=rule)


def _refuse(
    approval: Approval,
    choice: ApprovalDecision,
    actor: Actor,
    why: Problem,
    *,
    reason: str = "",
    rule: Rule | None = None,
) -> None:
    if not states.refuse_waiting(approval.run_id, why.code, _refusal_message(why)):
        raise _decided(approval.run)
    _record(approval, choice, actor, reason=reason, rule=rule)


def _refusal_message(why: Problem) -> str:
    return why.message() if why.code == errors.APPROVAL_DENIED.name else f"{why.message()} {why.remedy()}"


def _record(
    approval: Approval, choice: ApprovalDecision, actor: Actor, *, reason: str = "", rule: Rule | None = None
) -> None:
    Approval.objects.filter(pk=approval.pk, decided_at=None).update(
        decided_at=timezone.now(), decided_by=actor.user, decision=choice, reason=reason, rule=rule
    )
    run = approval.run
    more = {"rule": str(rule)} if rule else {}
    audit.record(actor, f"approval.{choice.value}", run.uid, team=run.team, skill=run.skill_label, **more)


def apply_rule(rule: Rule, actor: Actor) -> None:
    """Decides the waiting runs that a new or restored rule covers, in the transaction that stores the rule.

    An allow rule releases runs, a deny rule refuses them. A run that is blocked for another reason keeps
    waiting.
    """
    for approval in _waiting_for_holder(rule):
        run = approval.run
        try:
            version = _require_runnable(approval)
        except Refusal as refused:
            if refused.code == RULE_DENIED.name and rule.effect == Effect.DENY:
                _refuse(approval, ApprovalDecision.DENIED, actor, refused.problems[0], rule=rule)
            continue
        decision = rules_decision.decide(version, team=run.team, token=run.token)
        if rule.effect == Effect.ALLOW and decision.outcome == "allow":
            choice = ApprovalDecision.PREFIX if is_prefix(rule.name) else ApprovalDecision.EXACT
            permission = decision.basis_document()
            _release(approval, version, choice, actor, rule=rule, permission=permission)


def _waiting_for_holder(rule: Rule) -> Iterator[Approval]:
    """Yields the waiting, unexpired approvals of the rule's team or token, oldest run first.

    Locks each run before it yields the run's approval.
    """
    holder = {"run__team": rule.team} if rule.team else {"run__token": rule.token}
    keys = Approval.objects.waiting().filter(**holder, expires_at__gt=timezone.now()).order_by("run_id")
    for run_id in list(keys.values_list("run_id", flat=True)):
        Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run_id)
        rows = Approval.objects.waiting().select_related("run__skill__team", "run__team", "run__caller")
        yield from rows.select_related("run__token__team", "run__token__owner").filter(run_id=run_id)


def expire(now: datetime) -> list[str]:
    """Refuses the waiting runs whose approval has expired at ``now``; returns their uids. Safe to repeat."""
    due = Approval.objects.waiting().filter(expires_at__lte=now).select_related("run")
    due = due.defer("run__request", "run__result", "run__files")
    return [approval.run.uid for approval in due if _expire(approval)]


def _expire(approval: Approval) -> bool:
    why = errors.APPROVAL_EXPIRED.problem(hours=_hours(approval))
    with transaction.atomic():
        if not states.refuse_waiting(approval.run_id, why.code, _refusal_message(why)):
            return False
        undecided = Approval.objects.filter(pk=approval.pk, decided_at=None)
        undecided.update(decided_at=timezone.now(), decision=ApprovalDecision.EXPIRED)
    return True


def _hours(approval: Approval) -> int:
    return round((approval.expires_at - approval.run.created_at).total_seconds() / 3600)
