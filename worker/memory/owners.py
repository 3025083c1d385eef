"""Resolves the owners that scripts name in proposals to people, teams and runs."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Q

from registry.identity.actors import Actor
from registry.models import Role, Team, User
from worker.core.opaque_ids import opaque_id
from worker.models import OwnerType, Run

_OWN = ("", "me")
_OPAQUE = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Owner:
    """The owner of memories: a person, a team or a run. In a filter, an empty ``type`` matches any."""

    type: str
    user_id: int | None = None
    team_id: int | None = None
    run_id: int | None = None

    @property
    def key(self) -> str:
        return f"{self.type}:{self.user_id or self.team_id or self.run_id}"

    def columns(self) -> dict[str, Any]:
        return {
            "owner_type": self.type,
            "owner_user_id": self.user_id,
            "owner_team_id": self.team_id,
            "owner_run_id": self.run_id,
        }


@dataclass(frozen=True)
class ResolvedOwner:
    """The owner of a proposal; ``owner`` is None if unknown.

    ``is_foreign`` is False for the run, its caller and the caller's teams.
    """

    owner: Owner | None
    is_foreign: bool = False


@dataclass
class OwnerResolver:
    """Resolves the owners of one run's proposals; looks each name up once."""

    run: Run
    _known: dict[tuple[str, str], ResolvedOwner] = field(default_factory=dict)

    def resolve(self, type_: str, name: str) -> ResolvedOwner:
        if (type_, name) not in self._known:
            look = {OwnerType.USER: self._user, OwnerType.TASK: self._task}.get(OwnerType(type_))
            self._known[type_, name] = look(name) if look else self._team(type_, name)
        return self._known[type_, name]

    @cached_property
    def roles(self) -> dict[int, Role]:
        """The caller's roles at the end of the run, by primary key of the team; {} if the run has no
        caller.
        """
        return Actor(user=self.run.caller).roles if self.run.caller else {}

    def _user(self, name: str) -> ResolvedOwner:
        caller = self.run.caller
        if name in _OWN or (caller and name in self._names_of(caller)):
            here = caller is not None and caller.is_active and caller.erased_at is None
            return ResolvedOwner(Owner(OwnerType.USER, user_id=caller.pk) if here and caller else None)
        user = User.objects.filter(Q(username=name) | Q(uid=name), is_active=True, erased_at=None).first()
        user = user or self._colleague(name)
        return ResolvedOwner(Owner(OwnerType.USER, user_id=user.pk) if user else None, is_foreign=True)

    def _names_of(self, caller: User) -> set[str]:
        """The caller's names and ids. Includes the agent id of the run's context if the context's user id is
        the caller's.
        """
        own = opaque_id("user", self.run.team, caller.uid)
        context = self.run.request.get("context") or {}
        agent = {context.get("agent_id", "")} if context.get("user_id") == own else set()
        return {caller.username, caller.uid, own, *agent}

    def _colleague(self, name: str) -> User | None:
        if self.run.team is None or not _OPAQUE.fullmatch(name):
            return None
        members = User.objects.filter(memberships__team=self.run.team, is_active=True)
        return next((u for u in members if opaque_id("user", self.run.team, u.uid) == name), None)

    def _task(self, name: str) -> ResolvedOwner:
        if name in (*_OWN, self.run.uid, self.run.request_id):
            return ResolvedOwner(Owner(OwnerType.TASK, run_id=self.run.pk))
        other = Run.objects.filter(uid=name, caller__is_active=True, erased_at=None).first()
        return ResolvedOwner(Owner(OwnerType.TASK, run_id=other.pk) if other else None, is_foreign=True)

    def _team(self, type_: str, name: str) -> ResolvedOwner:
        own = self.run.team
        if name in _OWN or (own and name == opaque_id("team", own, own.uid)):
            team = own
        else:
            team = Team.objects.filter(Q(slug=name) | Q(uid=name)).first()
        belongs = team is not None and team.pk in self.roles
        owner = Owner(type_, team_id=team.pk) if team else None
        return ResolvedOwner(owner, is_foreign=not belongs and name not in _OWN)
