"""The one table of who may do what; docs/permissions.md is the same table for people to read."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from registry.actors import Actor
from registry.models import Scope, Skill, Team, Visibility
from registry.packages.problems import refuse


class Action(StrEnum):
    SEE = "see"
    INSTALL = "install"
    RUN = "run"
    READ_RUNS = "read others' runs"  # their inputs, logs, results and artifacts
    PUBLISH = "publish"
    REPORT = "report"  # that something is wrong with a version
    REVIEW = "review"
    SETTINGS = "change settings"  # visibility and whatever else is set about a skill or a team
    EVENTS = "manage events"  # webhook endpoints, and which skills an event starts
    MEMBERS = "manage members"
    GRANT = "grant"
    APPROVE = "approve"
    SET_CANONICAL = "set canonical"
    GLOSSARY = "write glossary"
    LIMITS = "set limits of a team"
    TRANSFER = "transfer"
    DELETE = "delete"


class Standing(StrEnum):
    """What somebody is to a team, from the least to the most."""

    ANONYMOUS = "anonymous"
    STRANGER = "stranger"  # signed in, not on the team
    VIEWER = "viewer"
    MEMBER = "member"
    MAINTAINER = "maintainer"
    OWNER = "owner"
    ADMINISTRATOR = "administrator"


Cell = Literal["yes", "no", "site", "public"]  # "site": where the skill is site or public
_NO: Cell = "no"
_YES: Cell = "yes"

# Columns in the order of Standing.
TABLE: dict[Action, tuple[Cell, Cell, Cell, Cell, Cell, Cell, Cell]] = {
    Action.SEE: ("public", "site", _YES, _YES, _YES, _YES, _YES),
    Action.INSTALL: ("public", "site", _YES, _YES, _YES, _YES, _YES),
    Action.RUN: (_NO, "site", "site", _YES, _YES, _YES, _YES),
    Action.READ_RUNS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.PUBLISH: (_NO, _NO, _NO, _YES, _YES, _YES, _YES),
    Action.REPORT: (_NO, "site", _YES, _YES, _YES, _YES, _YES),
    Action.REVIEW: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.SETTINGS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.EVENTS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.MEMBERS: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.GRANT: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.APPROVE: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.SET_CANONICAL: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.GLOSSARY: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.LIMITS: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.TRANSFER: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.DELETE: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
}

# What a token with a scope may at most do. An action in no scope needs the person, in a session.
SCOPES: dict[Scope, frozenset[Action]] = {
    Scope.READ: frozenset({Action.SEE, Action.INSTALL, Action.READ_RUNS}),
    Scope.RUN: frozenset({Action.SEE, Action.RUN}),
    Scope.PUBLISH: frozenset({Action.SEE, Action.PUBLISH, Action.SETTINGS}),
}

_LEAST = {
    "public": frozenset({Visibility.PUBLIC.value}),
    "site": frozenset({Visibility.PUBLIC.value, Visibility.SITE.value}),
}


def standing(actor: Actor, team_id: int | None) -> Standing:
    """What the actor is to the team, at this moment."""
    if actor.is_administrator:
        return Standing.ADMINISTRATOR
    if not actor.is_signed_in:
        return Standing.ANONYMOUS
    role = actor.roles.get(team_id) if team_id is not None else None
    return Standing(role.value) if role else Standing.STRANGER


def allows(cell: Cell, visibility: str) -> bool:
    """Whether a cell of the table says yes for a skill that is seen as ``visibility``."""
    return cell == _YES or (cell != _NO and visibility in _LEAST[cell])


def in_scope(actor: Actor, action: Action) -> bool:
    """Whether the actor's token, if it is one, was made for this kind of action."""
    return actor.token is None or any(action in SCOPES[Scope(scope)] for scope in actor.scopes)


def may(actor: Actor, action: Action, *, team: Team | None = None, skill: Skill | None = None) -> bool:
    """Whether the actor may do this to the skill, or else to whatever is the team's own."""
    team_id = skill.team_id if skill else team.pk if team else None
    visibility = skill.seen_as if skill else Visibility.PRIVATE.value
    cell = TABLE[action][list(Standing).index(standing(actor, team_id))]
    return allows(cell, visibility) and in_scope(actor, action)


def teams_where(actor: Actor, action: Action) -> list[int]:
    """The actor's own teams to whose things they may do this, without a look at the teams' rows."""
    places = list(Standing)
    held = {team: TABLE[action][places.index(Standing(role.value))] for team, role in actor.roles.items()}
    return [team for team, cell in held.items() if cell == _YES and in_scope(actor, action)]


def require(actor: Actor, action: Action, *, team: Team | None = None, skill: Skill | None = None) -> None:
    """Refuses as NOT_FOUND what the actor may not even know of, and as FORBIDDEN what they may not do."""
    if may(actor, action, team=team, skill=skill):
        return
    if skill and not may(actor, Action.SEE, skill=skill):
        raise refuse("NOT_FOUND", what="skill", name=str(skill))
    if team and not skill and not Team.objects.visible_to(actor).filter(pk=team.pk).exists():
        raise refuse("NOT_FOUND", what="team", name=team.slug)
    raise refuse("FORBIDDEN", action=action.value)
