"""Adds, removes and restores rules. Actors with a token can't do this."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.core.hooks import Hook
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.tokens import manages
from registry.models import Effect, Rule, Team, Token
from registry.packages.rule_names import is_prefix, normalize
from registry.packages.unsafe_properties import RequestedPermissions
from registry.rules.errors import RULE_EFFECT_UNKNOWN, RULE_IN_PLACE, RULE_LIMIT, RULE_NAME_INVALID
from registry.rules.holders import (
    Holder,
    holder_of,
    require_may_permit,
    require_may_restrict,
    require_reader,
    team_of,
)
from registry.rules.requested_permissions import permissions_to_grant

MAX_RULES = 500  # per holder; every decision reads all of them

rule_added: Hook[[Rule, Actor], None] = Hook()


def rules_of(holder: Holder, actor: Actor) -> QuerySet[Rule]:
    """The holder's active rules, deny rules first, then by name. Raises the refusals of
    ``require_reader``.
    """
    require_reader(holder, actor)
    rows = active_rules().filter(**_holder_fields(holder)).select_related("team", "token__team", "created_by")
    return rows.order_by("-effect", "name")


def active_rules() -> QuerySet[Rule]:
    return Rule.objects.filter(removed_at=None)


def find_rule(uid: str, actor: Actor) -> Rule:
    """The rule with this uid, even if it was removed. Raises NOT_FOUND if the actor may not read it."""
    rule = Rule.objects.select_related("team", "token__team", "token__owner").filter(uid=uid).first()
    if rule is None or not _may_read(rule, actor):
        raise NOT_FOUND.refusal(what="rule", name=uid[:40])
    return rule


def _may_read(rule: Rule, actor: Actor) -> bool:
    if rule.token:
        return actor.token is None and manages(rule.token.owner, rule.token.team, actor)
    return actor.is_administrator or rule.team_id in actor.team_ids


def add_rule(holder: Holder, effect: str, name: str, actor: Actor, *, number: str | None = None) -> Rule:
    """Adds a rule, or updates the permissions of an equal rule. An allow rule covers the permissions that are
    requested now.

    ``number`` is the version whose permissions are granted, by default the latest. A prefix without a version
    grants the permissions of all matching skills.

    Raises RULE_EFFECT_UNKNOWN, RULE_NAME_INVALID, RULE_LIMIT if the holder already has ``MAX_RULES`` rules,
    and the refusals of ``require_may_permit`` or ``require_may_restrict``. For allow rules, also raises the
    refusals of ``permissions_to_grant``.
    """
    if effect not in Effect.values:
        raise RULE_EFFECT_UNKNOWN.refusal(effect=effect[:40]).at("effect")
    (require_may_permit if effect == Effect.ALLOW else require_may_restrict)(holder, actor)
    normal_name = normalize(name)
    if normal_name is None:
        raise RULE_NAME_INVALID.refusal(name=name[:80]).at("name")
    permissions, granted_to = RequestedPermissions(), ""
    if effect == Effect.ALLOW:
        permissions, granted_to = permissions_to_grant(normal_name, number, team_of(holder), actor)
    if granted_to and "/" in normal_name and not is_prefix(normal_name):
        normal_name = granted_to.partition("@")[0]  # the current name, even if ``name`` is a former one
    given = {
        "granted": permissions.document(),
        "granted_to": granted_to,
        "created_by": actor.user,
        "created_at": timezone.now(),
    }
    return _store(holder, Effect(effect), normal_name, given, actor)


@transaction.atomic
def _store(holder: Holder, effect: Effect, name: str, given: dict[str, Any], actor: Actor) -> Rule:
    _lock(holder)
    existing = active_rules().filter(**_holder_fields(holder))
    if existing.count() >= MAX_RULES and not existing.filter(effect=effect, name=name).exists():
        raise RULE_LIMIT.refusal(most=MAX_RULES)
    rule, _created = existing.update_or_create(
        **_holder_fields(holder), effect=effect, name=name, removed_at=None, defaults=given
    )
    _record(actor, "rule.add", rule, granted=given["granted"], granted_to=given["granted_to"])
    rule_added.send(rule, actor)
    return rule


def _lock(holder: Holder) -> None:
    """Locks the row of the holder's team or, without a team, of the token. Decisions on waiting runs take the
    same lock.
    """
    if team := team_of(holder):
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    elif isinstance(holder, Token):
        Token.objects.select_for_update(no_key=True).get(pk=holder.pk)


def lock_holders(team: Team | None, token: Token | None) -> None:
    """Keeps other transactions from adding rules of the team and the token until the current one ends."""
    for holder in (team, token if token and token.pk else None):  # a webhook's token has no row
        if holder:
            _lock(holder)


@transaction.atomic
def remove_rule(rule: Rule, actor: Actor) -> Rule:
    """Removes the rule; a second call changes nothing. Raises Refusal unless the actor may remove rules with
    this effect.
    """
    is_allowance = rule.effect == Effect.ALLOW
    (require_may_restrict if is_allowance else require_may_permit)(holder_of(rule), actor)
    if Rule.objects.filter(pk=rule.pk, removed_at=None).update(removed_at=timezone.now()):
        _record(actor, "rule.remove", rule)
    rule.refresh_from_db(fields=["removed_at"])
    return rule


def restore_rule(rule: Rule, actor: Actor) -> Rule:
    """Restores the rule with its permissions. Raises Refusal unless the actor may add rules with this effect,
    and RULE_IN_PLACE if the same rule was added again.
    """
    is_allowance = rule.effect == Effect.ALLOW
    (require_may_permit if is_allowance else require_may_restrict)(holder_of(rule), actor)
    try:
        with transaction.atomic():
            _lock(holder_of(rule))
            if Rule.objects.filter(pk=rule.pk, removed_at__isnull=False).update(removed_at=None):
                _record(actor, "rule.restore", rule)
                rule_added.send(rule, actor)
    except IntegrityError:
        raise RULE_IN_PLACE.refusal(rule=str(rule)) from None
    rule.refresh_from_db(fields=["removed_at"])
    return rule


def _holder_fields(holder: Holder) -> dict[str, Any]:
    return {"team": holder} if isinstance(holder, Team) else {"token": holder}


def _record(actor: Actor, action: str, rule: Rule, **more: object) -> None:
    holder = holder_of(rule)
    token = {"token": holder.name} if isinstance(holder, Token) else {}
    detail = {key: value for key, value in more.items() if value}
    audit.record(actor, action, str(rule), team=team_of(holder), **token, **detail)
