"""The permissions of each role by action. docs/reference/permissions.md shows the same table."""

from enum import StrEnum
from typing import Literal

from django.db.models import QuerySet

from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, TEAM_ARCHIVED, TOKEN_SCOPE_MISSING
from registry.models import RunReaders, Scope, Skill, Team, Visibility


class Action(StrEnum):
    SEE = "see skills"
    INSTALL = "install skills"
    RUN = "run skills"
    READ_RUNS = "read others' runs"  # inputs, logs, results and artifacts of runs that others started
    SHARE_RUNS = "share runs"  # create links to runs that the actor can read
    PUBLISH = "publish versions"
    REPORT = "report versions"  # report a problem with a version
    REVIEW = "review findings and reports"
    RELEASE = "manage versions"  # channels, changelogs, yank and deprecation
    SETTINGS = "change settings"  # visibility and other settings of a skill or a team
    COLLECTIONS = "manage collections"
    EVENTS = "manage events"  # webhook endpoints, and which skills an event starts
    MEMBERS = "manage members"
    GRANT = "grant secrets and permissions to skills"
    APPROVE = "approve runs"
    SET_CANONICAL = "set canonical skills"
    GLOSSARY = "edit the glossary"
    LIMITS = "set limits of a team"
    USERS = "manage users"
    TRANSFER = "rename and merge skills"
    DELETE = "purge versions"


class Standing(StrEnum):
    """The relation of an actor to a team, from least to most powerful."""

    ANONYMOUS = "anonymous"
    STRANGER = "stranger"  # signed in, but not a member of the team
    VIEWER = "viewer"
    MEMBER = "member"
    MAINTAINER = "maintainer"
    OWNER = "owner"
    ADMINISTRATOR = "administrator"


# "site": yes if the skill's visibility is site or public; "shared": yes if the team's setting opens its runs
Cell = Literal["yes", "no", "site", "public", "shared"]
_NO: Cell = "no"
_YES: Cell = "yes"

_COLUMNS: dict[str, int] = {each.value: column for column, each in enumerate(Standing)}

# Columns in the order of Standing.
TABLE: dict[Action, tuple[Cell, Cell, Cell, Cell, Cell, Cell, Cell]] = {
    Action.SEE: ("public", "site", _YES, _YES, _YES, _YES, _YES),
    Action.INSTALL: ("public", "site", _YES, _YES, _YES, _YES, _YES),
    Action.RUN: (_NO, "site", "site", _YES, _YES, _YES, _YES),
    Action.READ_RUNS: (_NO, _NO, "shared", "shared", _YES, _YES, _YES),
    Action.SHARE_RUNS: (_NO, _NO, _NO, "shared", _YES, _YES, _YES),
    Action.PUBLISH: (_NO, _NO, _NO, _YES, _YES, _YES, _YES),
    Action.REPORT: (_NO, "site", _YES, _YES, _YES, _YES, _YES),
    Action.REVIEW: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.RELEASE: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.SETTINGS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.COLLECTIONS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.EVENTS: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.MEMBERS: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.GRANT: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.APPROVE: (_NO, _NO, _NO, _NO, _YES, _YES, _YES),
    Action.SET_CANONICAL: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.GLOSSARY: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.LIMITS: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.USERS: (_NO, _NO, _NO, _NO, _NO, _NO, _YES),
    Action.TRANSFER: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
    Action.DELETE: (_NO, _NO, _NO, _NO, _NO, _YES, _YES),
}

# The actions that an archived team still allows.
READING = frozenset({Action.SEE, Action.INSTALL, Action.READ_RUNS, Action.REPORT})

# The actions that each token scope allows. Actions without a scope need a session.
SCOPES: dict[Scope, frozenset[Action]] = {
    Scope.READ: frozenset({Action.SEE, Action.INSTALL, Action.READ_RUNS}),
    Scope.RUN: frozenset({Action.SEE, Action.RUN}),
    Scope.PUBLISH: frozenset({Action.SEE, Action.PUBLISH, Action.RELEASE, Action.REPORT}),
    Scope.SETTINGS: frozenset({Action.SEE, Action.SETTINGS, Action.COLLECTIONS}),
    Scope.ADMINISTER: frozenset({Action.SEE, Action.MEMBERS, Action.USERS}),
}

_VISIBILITIES = {
    "public": frozenset({Visibility.PUBLIC.value}),
    "site": frozenset({Visibility.PUBLIC.value, Visibility.SITE.value}),
}


def standing(actor: Actor, team_id: int | None) -> Standing:
    """The actor's relation to the team. Without a team, signed-in users are strangers."""
    if actor.is_administrator:
        return Standing.ADMINISTRATOR
    if not actor.is_signed_in:
        return Standing.ANONYMOUS
    role = actor.roles.get(team_id) if team_id is not None else None
    return Standing(role.value) if role else Standing.STRANGER


def allows(cell: Cell, visibility: str, *, runs_are_shared: bool = False) -> bool:
    """Whether a cell of the table permits the action. The result depends on the skill's visibility, or on
    whether the team shares its runs with all members.
    """
    if cell == "shared":
        return runs_are_shared
    return cell == _YES or (cell != _NO and visibility in _VISIBILITIES[cell])


def in_scope(actor: Actor, action: Action) -> bool:
    """Whether the actor uses no token, or a token with a scope that covers the action."""
    return actor.token is None or any(action in SCOPES[Scope(scope)] for scope in actor.scopes)


def require_scope(actor: Actor, *actions: Action) -> None:
    """Raises TOKEN_SCOPE_MISSING if the actor's token covers none of ``actions``, or FORBIDDEN if no scope
    covers any of them. Accepts every actor without a token, and every actor if ``actions`` is empty.
    """
    if not actions or any(in_scope(actor, action) for action in actions):
        return
    needed = sorted(scope for scope in Scope if SCOPES[scope] & set(actions))
    if not needed:
        raise FORBIDDEN.refusal(action=actions[0].value)
    raise TOKEN_SCOPE_MISSING.refusal(scopes=tuple(sorted(actor.scopes)), needed=tuple(needed))


def may(
    actor: Actor,
    action: Action,
    *,
    team: Team | None = None,
    skill: Skill | None = None,
    even_archived: bool = False,
) -> bool:
    """Whether role and token permit the action on the skill, or on the team itself if no skill is given.

    An archived team permits only reading. ``even_archived`` is for actions that don't change the team, such
    as reading its audit log.
    """
    permitted = role_permits(actor, action, team=team, skill=skill) and in_scope(actor, action)
    return permitted and (even_archived or not _is_archived(action, skill.team if skill else team))


def require_unarchived(team: Team | None) -> None:
    """Raises TEAM_ARCHIVED if the team is archived."""
    if team and team.archived_at:
        raise TEAM_ARCHIVED.refusal(team=team.slug)


def _is_archived(action: Action, team: Team | None) -> bool:
    return action not in READING and team is not None and team.archived_at is not None


def role_permits(
    actor: Actor, action: Action, *, team: Team | None = None, skill: Skill | None = None
) -> bool:
    """Whether the actor's role permits the action, whatever the scopes of the token."""
    owner = skill.team if skill else team
    team_id = owner.pk if owner else None
    visibility = skill.effective_visibility if skill else Visibility.PRIVATE.value
    cell = TABLE[action][_COLUMNS[standing(actor, team_id)]]
    is_shared = owner is not None and owner.run_readers == RunReaders.TEAM
    return allows(cell, visibility, runs_are_shared=is_shared)


def teams_where(actor: Actor, action: Action) -> list[int]:
    """The ids of the actor's own teams in which role and token permit the action for every visibility.
    Administrators get only teams that they are members of.
    """
    if not in_scope(actor, action):
        return []
    cells = TABLE[action]
    return [team for team, role in actor.roles.items() if cells[_COLUMNS[role.value]] == _YES]


def active_teams_where(actor: Actor, action: Action) -> QuerySet[Team]:
    """The teams that are not archived and in which role and token permit the action; for administrators,
    also those of others.
    """
    teams = Team.objects.filter(archived_at=None)
    if actor.is_administrator and in_scope(actor, action):
        return teams
    return teams.filter(pk__in=teams_where(actor, action))


def require(
    actor: Actor,
    action: Action,
    *,
    team: Team | None = None,
    skill: Skill | None = None,
    even_archived: bool = False,
) -> None:
    """Raises Refusal unless the actor may perform the action.

    The code is NOT_FOUND if the actor can't see the skill or team, and TOKEN_SCOPE_MISSING if only the
    token's scope is missing. It is TEAM_ARCHIVED if the team is archived, otherwise FORBIDDEN.
    ``even_archived`` is the same as for ``may``.
    """
    if may(actor, action, team=team, skill=skill, even_archived=True):
        owner = skill.team if skill else team
        if not even_archived and _is_archived(action, owner):
            require_unarchived(owner)
        return
    if skill and not may(actor, Action.SEE, skill=skill):
        raise NOT_FOUND.refusal(what="skill", name=str(skill))
    if team and not skill and not Team.objects.visible_to(actor).filter(pk=team.pk).exists():
        raise NOT_FOUND.refusal(what="team", name=team.slug)
    if role_permits(actor, action, team=team, skill=skill):
        require_scope(actor, action)
    raise FORBIDDEN.refusal(action=action.value)
