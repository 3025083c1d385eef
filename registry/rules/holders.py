"""Who keeps rules: a team for its agents, or somebody for one token of theirs; and who may change them."""

from __future__ import annotations

from registry.actors import Actor
from registry.models import Rule, Team, Token
from registry.packages.problems import refuse
from registry.permissions import Action, may, require

Holder = Team | Token


def holder_of(rule: Rule) -> Holder:
    holder = rule.team or rule.token
    assert holder
    return holder


def team_of(holder: Holder) -> Team | None:
    return holder if isinstance(holder, Team) else holder.team


def require_reader(holder: Holder, actor: Actor) -> None:
    """A team's rules are read by its members, a token's by its owner in person."""
    if isinstance(holder, Token):
        _require_owner(holder, actor)
    elif not actor.is_administrator and holder.pk not in actor.team_ids:
        raise refuse("FORBIDDEN", action="read rules")


def require_narrower(holder: Holder, actor: Actor) -> None:
    """To deny, or to take an allowance back, is a setting; nothing of rules is done by a token."""
    _require_person(actor)
    if isinstance(holder, Token):
        _require_owner(holder, actor)
    else:
        require(actor, Action.SETTINGS, team=holder)


def require_wider(holder: Holder, actor: Actor) -> None:
    """To allow, or to take a denial back, is a grant; of a token its owner's, who may grant."""
    _require_person(actor)
    if isinstance(holder, Team):
        require(actor, Action.GRANT, team=holder)
        return
    _require_owner(holder, actor)
    if holder.team:
        require(Actor(user=holder.owner), Action.GRANT, team=holder.team)


def may_deny(holder: Holder, actor: Actor) -> bool:
    return _may(holder, actor, Action.SETTINGS)


def may_grant(holder: Holder, actor: Actor) -> bool:
    return _may(holder, actor, Action.GRANT)


def _may(holder: Holder, actor: Actor, action: Action) -> bool:
    if actor.token:
        return False
    if isinstance(holder, Team):
        return may(actor, action, team=holder)
    return action is not Action.GRANT or owner_may_grant(holder, holder.team)


def owner_may_grant(token: Token, team: Team | None) -> bool:
    """Whether what the token's owner allows it counts: at each call, by their present role."""
    return team is None or may(Actor(user=token.owner), Action.GRANT, team=team)


def _require_person(actor: Actor) -> None:
    if actor.token:
        raise refuse("FORBIDDEN", action="change rules")


def _require_owner(token: Token, actor: Actor) -> None:
    if actor.token or not (actor.is_administrator or actor.user == token.owner):
        raise refuse("NOT_FOUND", what="token", name=token.uid)
