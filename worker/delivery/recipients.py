"""Finds the recipients of an event: the people involved, and the people and teams who watch."""

from __future__ import annotations

from collections.abc import Collection

from registry.identity.actors import Actor
from registry.identity.permissions import TABLE, Action, Standing
from registry.models import Membership, Role, User
from worker.models import (
    REVIEW_KINDS,
    RUN_KINDS,
    SCHEDULE_KINDS,
    NotificationEvent,
    NotificationKind,
)

Kind = NotificationKind
# The kinds in the inbox of a person without settings. Of a streak of failures, only the first is included.
DEFAULT_KINDS = tuple(kind.value for kind in Kind if kind != Kind.RUN_FAILED)

RELATED = ("run", "skill__team", "team", "version__skill__team", "schedule")
HEAVY = ("run__request", "run__result", "run__files", "version__manifest", "version__body")


def involved_people(event: NotificationEvent) -> set[int]:
    """The ids of the users involved: the run's caller, a schedule's creator and the user that it runs as, the
    version's publisher, and the users who must decide.
    """
    found: set[int | None] = set()
    if event.kind in RUN_KINDS and event.run:
        found = {event.run.caller_id}
    elif event.kind in SCHEDULE_KINDS and event.schedule:
        found = {event.schedule.run_as_id, event.schedule.created_by_id}
    elif event.kind in REVIEW_KINDS and event.version:
        found = {event.version.published_by_id, *_members(event.team_id, Action.REVIEW)}
    elif event.kind == Kind.APPROVAL:
        found = {*_members(event.team_id, Action.APPROVE)}
    return {user for user in found if user is not None}


def watching_teams(event: NotificationEvent) -> set[int]:
    """The ids of the teams that can watch the event: its own team and, for the outcome of a run, also the
    skill's team.
    """
    teams = {event.team_id}
    if event.kind in RUN_KINDS and event.skill:
        teams.add(event.skill.team_id)
    return {team for team in teams if team is not None}


def active_actors(users: Collection[int]) -> dict[int, Actor]:
    """Maps the ids of the active people among ``users`` to actors; omits service accounts."""
    found = User.objects.filter(pk__in=users, is_active=True).in_bulk()
    return {key: Actor(user=user) for key, user in found.items() if not user.is_service}


def visible_events(keys: Collection[int], actor: Actor | None) -> dict[int, NotificationEvent]:
    """The events with these ids that the actor can see, by id.

    Without an actor (for a team), omits only events whose run was deleted.
    """
    rows = NotificationEvent.objects.filter(pk__in=keys).select_related(*RELATED).defer(*HEAVY)
    if actor:
        return rows.visible_to(actor).in_bulk()
    return {row.pk: row for row in rows if row.run or not row.run_id}


def can_see(event: NotificationEvent, actor: Actor) -> bool:
    return NotificationEvent.objects.visible_to(actor).filter(pk=event.pk).exists()


def kinds_of(event: NotificationEvent) -> tuple[str, ...]:
    """The notification kinds that include the event; a first failure is also a failed run."""
    first = event.kind == Kind.FIRST_FAILURE
    return (event.kind, Kind.RUN_FAILED.value) if first else (event.kind,)


def members_of(team_id: int | None) -> set[int]:
    """The ids of the team's members. The caller checks later which members can see an event."""
    if team_id is None:
        return set()
    return set(Membership.objects.filter(team_id=team_id).values_list("user_id", flat=True))


def _members(team_id: int | None, action: Action) -> set[int]:
    columns = list(Standing)
    roles = [role for role in Role if TABLE[action][columns.index(Standing(role.value))] == "yes"]
    if team_id is None:
        return set()
    rows = Membership.objects.filter(team_id=team_id, role__in=roles)
    return set(rows.values_list("user_id", flat=True))
