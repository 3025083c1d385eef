"""Holders of rules, which are teams and tokens, and access checks for reading and changing their rules."""

from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may, require
from registry.identity.tokens import manages
from registry.models import Rule, Team, Token

Holder = Team | Token


def holder_of(rule: Rule) -> Holder:
    holder = rule.team or rule.token
    assert holder
    return holder


def team_of(holder: Holder) -> Team | None:
    return holder if isinstance(holder, Team) else holder.team


def require_reader(holder: Holder, actor: Actor) -> None:
    """Raises FORBIDDEN for a team that the actor is not in, except for administrators. For a token, raises
    NOT_FOUND if the actor uses a token or may not manage this one (see ``manages``).
    """
    if isinstance(holder, Token):
        _require_owner(holder, actor)
    elif not actor.is_administrator and holder.pk not in actor.team_ids:
        raise FORBIDDEN.refusal(action="read rules")


def require_may_restrict(holder: Holder, actor: Actor) -> None:
    """Raises Refusal unless the actor may add deny rules and remove allow rules. Actors with a token
    may not.
    """
    _require_person(actor)
    if isinstance(holder, Token):
        _require_owner(holder, actor)
    else:
        require(actor, Action.SETTINGS, team=holder)


def require_may_permit(holder: Holder, actor: Actor) -> None:
    """Raises Refusal unless the actor may add allow rules and remove deny rules. Actors with a token may not.

    For rules of a token that is limited to a team, its owner must have the right to grant in that team.
    """
    _require_person(actor)
    if isinstance(holder, Team):
        require(actor, Action.GRANT, team=holder)
        return
    _require_owner(holder, actor)
    if holder.team:
        require(Actor(user=holder.owner), Action.GRANT, team=holder.team)


def may_deny(holder: Holder, actor: Actor) -> bool:
    return _is_allowed(holder, actor, Action.SETTINGS)


def may_grant(holder: Holder, actor: Actor) -> bool:
    return _is_allowed(holder, actor, Action.GRANT)


def _is_allowed(holder: Holder, actor: Actor, action: Action) -> bool:
    if actor.token:
        return False
    if isinstance(holder, Team):
        return may(actor, action, team=holder)
    return action is not Action.GRANT or owner_may_grant(holder, holder.team)


def owner_may_grant(token: Token, team: Team | None) -> bool:
    """Whether the token's allow rules apply to runs of ``team``: its owner may grant permissions there now,
    or ``team`` is None.
    """
    return team is None or may(Actor(user=token.owner), Action.GRANT, team=team)


def _require_person(actor: Actor) -> None:
    if actor.token:
        raise FORBIDDEN.refusal(action="change rules")


def _require_owner(token: Token, actor: Actor) -> None:
    if actor.token or not manages(token.owner, token.team, actor):
        raise NOT_FOUND.refusal(what="token", name=token.uid)
