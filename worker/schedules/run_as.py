"""The user and token in whose name a schedule runs: the choice, and the actor for its runs.

Runs of a schedule are unattended. So if a person is chosen, the actor also gets a token: an unsaved one with
the scope to run skills.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from registry.accounts import service_accounts
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.identity.tokens import find_token
from registry.models import Membership, Scope, Team, Token, User, UserKind
from registry.packages.problems import Refusal
from worker.models import Run, Schedule
from worker.schedules import errors

_KEY = "schedule:"  # prefix of the idempotency keys of schedules' runs


@dataclass(frozen=True)
class RunAs:
    """The user in whose name a schedule runs, and the token if it uses one."""

    user: User
    token: Token | None = None


def choose(actor: Actor, *, name: str = "", token: str = "", team: Team | None = None) -> RunAs:
    """The user and token that the actor chooses, by default themselves.

    ``name`` is a service account of ``team``. ``token`` is the uid of a token of the actor or of a service
    account that they manage. An actor that uses a token can choose only this token. Raises
    SCHEDULE_RUN_AS_INVALID for another choice, and NOT_FOUND for an unknown token.
    """
    if actor.token:
        if name or token not in ("", actor.token.uid):
            raise errors.SCHEDULE_RUN_AS_INVALID.refusal(name=name or token).at("run_as")
        return RunAs(actor.token.owner, actor.token)
    if token:
        chosen = find_token(token, actor)
        if chosen.owner != actor.user and not chosen.owner.is_service:
            raise errors.SCHEDULE_RUN_AS_INVALID.refusal(name=chosen.name).at("token")
        return RunAs(chosen.owner, chosen)
    if actor.user and name in ("", actor.user.username):
        return RunAs(actor.user)
    account = next((user for user in accounts(team, actor) if user.username == name), None)
    if account is None:
        raise errors.SCHEDULE_RUN_AS_INVALID.refusal(name=name[:150] or "-").at("run_as")
    return RunAs(account)


@reader
def accounts(team: Team | None, actor: Actor) -> Reads[list[User]]:
    """The active service accounts of the team that the actor may choose."""
    if team is None or not may(actor, Action.MEMBERS, team=team):
        return []
    rows = service_accounts.list_service_accounts(team, actor).filter(user__is_active=True)
    yield (rows := rows.order_by("user__username"))
    return [row.user for row in rows]


def may_use(schedule: Schedule, actor: Actor) -> bool:
    """Whether the actor is permitted to choose the user and token of this schedule."""
    if actor.user is None or schedule.run_as is None:
        return False
    if schedule.run_as_id == actor.user.pk:
        return actor.token is None or schedule.token_id == actor.token.pk
    return schedule.run_as in accounts(schedule.team, actor)


def actor_of(schedule: Schedule) -> Actor:
    """The actor for the schedule's runs. Raises the refusal of ``unusable_reason`` if there is one."""
    if problem := unusable_reason(schedule):
        raise problem
    user, token = schedule.run_as, schedule.token
    assert user
    if token is None:
        name = f"schedule {schedule.name}"[:120]
        team = _team_of_account(user)
        token = Token(uid=schedule.uid, owner=user, team=team, name=name, scopes=[Scope.RUN])
    return Actor(user=user, token=token, scopes=frozenset(token.scopes))


def unusable_reason(schedule: Schedule) -> Refusal | None:
    """The reason why the schedule's user, token or team can't start runs; None if they can."""
    user, token = schedule.run_as, schedule.token
    if schedule.team and schedule.team.archived_at:
        return errors.SCHEDULE_TEAM_ARCHIVED.refusal(team=schedule.team.slug)
    if user is None or not user.is_active:
        return errors.SCHEDULE_USER_INACTIVE.refusal(user=user.username if user else "-")
    if schedule.token_name and (token is None or token.revoked_at or token.expires_at <= timezone.now()):
        return errors.SCHEDULE_TOKEN_INVALID.refusal(token=schedule.token_name)
    return None


def idempotency_key(schedule: Schedule, due_key: str) -> str:
    return f"{_KEY}{schedule.uid}:{due_key}"


def actor_of_run(run: Run) -> Actor | None:
    """The actor of the schedule that requested the run; None if no schedule did. Raises as ``actor_of``."""
    if not run.idempotency_key.startswith(_KEY):
        return None
    uid = run.idempotency_key.removeprefix(_KEY).partition(":")[0]
    rows = Schedule.objects.select_related("run_as", "token__owner", "token__team", "team")
    schedule = rows.filter(uid=uid, run_as=run.caller_id).first()
    return actor_of(schedule) if schedule else None


def _team_of_account(user: User) -> Team | None:
    if user.kind != UserKind.SERVICE:
        return None
    membership = Membership.objects.select_related("team").filter(user=user).first()
    return membership.team if membership else None
