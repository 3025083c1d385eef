"""Rules made, removed and put back, by people alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Effect, Rule, Team, Token
from registry.packages.problems import refuse
from registry.packages.rule_names import is_prefix, normal
from registry.packages.safety import Asks
from registry.rules.granting import granted_now
from registry.rules.holders import Holder, holder_of, require_narrower, require_reader, require_wider, team_of

MOST = 500  # of one holder: every decision reads them all

Follower = Callable[[Rule, Actor], None]
_followers: list[Follower] = []


def register_follower(follow: Follower) -> None:
    """Names what is called, in the same transaction, with a rule that stands from now on."""
    if follow not in _followers:
        _followers.append(follow)


def rules_of(holder: Holder, actor: Actor) -> QuerySet[Rule]:
    """Those that stand: denials first, then by name."""
    require_reader(holder, actor)
    rows = standing_rules().filter(**_held_by(holder)).select_related("team", "token__team", "made_by")
    return rows.order_by("-effect", "name")


def standing_rules() -> QuerySet[Rule]:
    return Rule.objects.filter(removed_at=None)


def find_rule(uid: str, actor: Actor) -> Rule:
    """One that the actor may read; removed ones are found too, to be put back."""
    rule = Rule.objects.select_related("team", "token__team", "token__owner").filter(uid=uid).first()
    if rule is None or not _may_read(rule, actor):
        raise refuse("NOT_FOUND", what="rule", name=uid[:40])
    return rule


def _may_read(rule: Rule, actor: Actor) -> bool:
    if rule.token:
        return actor.token is None and (actor.is_administrator or rule.token.owner == actor.user)
    return actor.is_administrator or rule.team_id in actor.team_ids


def add_rule(holder: Holder, effect: str, name: str, actor: Actor, *, number: str | None = None) -> Rule:
    """A rule that stands from now on; an allowance made again is given for what is asked today.

    ``number``: the version that it is given for, else the latest; a prefix alone is for all it covers now.
    """
    if effect not in Effect.values:
        raise refuse("RULE_EFFECT_UNKNOWN", path="effect", effect=effect[:40])
    (require_wider if effect == Effect.ALLOW else require_narrower)(holder, actor)
    normal_name = normal(name)
    if normal_name is None:
        raise refuse("RULE_NAME_INVALID", path="name", name=name[:80])
    asks, given_for = Asks(), ""
    if effect == Effect.ALLOW:
        asks, given_for = granted_now(normal_name, number, team_of(holder), actor)
    if given_for and "/" in normal_name and not is_prefix(normal_name):
        normal_name = given_for.partition("@")[0]  # the present name, where an earlier one was given
    given = {
        "granted": asks.document(),
        "given_for": given_for,
        "made_by": actor.user,
        "made_at": timezone.now(),
    }
    return _stored(holder, Effect(effect), normal_name, given, actor)


@transaction.atomic
def _stored(holder: Holder, effect: Effect, name: str, given: dict[str, Any], actor: Actor) -> Rule:
    _lock(holder)
    held = standing_rules().filter(**_held_by(holder))
    if held.count() >= MOST and not held.filter(effect=effect, name=name).exists():
        raise refuse("RULE_LIMIT", most=MOST)
    rule, _created = held.update_or_create(
        **_held_by(holder), effect=effect, name=name, removed_at=None, defaults=given
    )
    _record(actor, "rule.add", rule, granted=given["granted"], given_for=given["given_for"])
    _tell(rule, actor)
    return rule


def _lock(holder: Holder) -> None:
    """The team's row comes first, as for those who decide on what waits."""
    if team := team_of(holder):
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    elif isinstance(holder, Token):
        Token.objects.select_for_update(no_key=True).get(pk=holder.pk)


def hold_still(team: Team | None, token: Token | None) -> None:
    """No rule of theirs begins to stand until the transaction ends."""
    for holder in (team, token if token and token.pk else None):  # a webhook's token is no row
        if holder:
            _lock(holder)


def _tell(rule: Rule, actor: Actor) -> None:
    for follow in _followers:
        follow(rule, actor)


@transaction.atomic
def remove_rule(rule: Rule, actor: Actor) -> Rule:
    """It holds no more; a second time changes nothing."""
    is_allowance = rule.effect == Effect.ALLOW
    (require_narrower if is_allowance else require_wider)(holder_of(rule), actor)
    if Rule.objects.filter(pk=rule.pk, removed_at=None).update(removed_at=timezone.now()):
        _record(actor, "rule.remove", rule)
    rule.refresh_from_db(fields=["removed_at"])
    return rule


def restore_rule(rule: Rule, actor: Actor) -> Rule:
    """As it was: an allowance for what it had been given for, and nothing that is asked since."""
    is_allowance = rule.effect == Effect.ALLOW
    (require_wider if is_allowance else require_narrower)(holder_of(rule), actor)
    try:
        with transaction.atomic():
            _lock(holder_of(rule))
            if Rule.objects.filter(pk=rule.pk, removed_at__isnull=False).update(removed_at=None):
                _record(actor, "rule.restore", rule)
                _tell(rule, actor)
    except IntegrityError:
        raise refuse("RULE_IN_PLACE", rule=str(rule)) from None
    rule.refresh_from_db(fields=["removed_at"])
    return rule


def _held_by(holder: Holder) -> dict[str, Any]:
    return {"team": holder} if isinstance(holder, Team) else {"token": holder}


def _record(actor: Actor, deed: str, rule: Rule, **more: object) -> None:
    holder = holder_of(rule)
    token = {"token": holder.name} if isinstance(holder, Token) else {}
    said = {key: value for key, value in more.items() if value}
    audit.record(actor, deed, str(rule), team=team_of(holder), **token, **said)
