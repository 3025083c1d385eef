"""The actor of a request: anonymous, a user in a session, a token for its owner, or the shell."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, cast

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from registry.core.errors import NOT_FOUND
from registry.core.sql import padded, prepared
from registry.identity.errors import SERVICE_ACCOUNT_IN_SHELL
from registry.models import Membership, Role, RunReaders, Scope, Token, User

_ALL_SCOPES = frozenset(Scope.values)


@prepared
def _memberships_of(user: int) -> QuerySet[Membership, tuple[int, str, str]]:
    return Membership.objects.filter(user_id=user).values_list("team_id", "role", "team__run_readers")


@dataclass(frozen=True)
class Actor:
    user: User | None = None
    token: Token | None = None
    scopes: frozenset[str] = _ALL_SCOPES
    is_shell: bool = False  # the command line of this machine, which has administrator rights
    operator: Actor | None = None  # the shell's own actor, if a command acts as this user with ``--as``

    @property
    def is_signed_in(self) -> bool:
        return self.is_shell or self.user is not None

    @property
    def is_administrator(self) -> bool:
        """Whether the actor has administrator rights. A token for one team never has them."""
        if self.token and self.token.team_id:
            return False
        return self.is_shell or bool(self.user and self.user.is_superuser)

    @cached_property
    def _memberships(self) -> list[tuple[int, str, str]]:
        """Team id, role and the team's ``run_readers`` of each membership; for a token of one team, only that
        team's.
        """
        if self.user is None:
            return []
        only = self.token.team_id if self.token else None
        return [row for row in _memberships_of(self.user.pk) if only is None or row[0] == only]

    @cached_property
    def roles(self) -> dict[int, Role]:
        """The user's role by team id; for a token of one team, only that team's. Cached until
        ``forget_memberships``.
        """
        return {team: Role(role) for team, role, _ in self._memberships}

    @cached_property
    def shared_run_team_ids(self) -> frozenset[int]:
        """The ids of the user's teams in which all members may read runs."""
        return frozenset(team for team, _, readers in self._memberships if readers == RunReaders.TEAM)

    @classmethod
    def of_session(cls, user: User, memberships: Sequence[tuple[int, str, str]]) -> Actor:
        """The actor of a session whose user and memberships are already read."""
        found = cls(user=user)
        found.__dict__["_memberships"] = list(memberships)
        return found

    def detached(self) -> Actor:
        """A copy of the actor that has read its memberships and does not reference the request."""
        found = Actor(user=copy(self.user), token=self.token, scopes=self.scopes)
        found.__dict__["_memberships"] = self._memberships
        return found

    def forget_memberships(self) -> None:
        """Clears the cached memberships, so that their next use reads them from the database."""
        for name in ("_memberships", "roles", "shared_run_team_ids", "query_shape", "query_values"):
            self.__dict__.pop(name, None)

    @cached_property
    def query_shape(self) -> ActorShape:
        """All that querysets may depend on except ``query_values``; see ``registry.core.sql.prepared``."""
        kinds = [(kind, len(rows)) for kind, rows in self._teams_by_kind()]
        own = None if self.token is None else self._token_shape(self.token)
        user = (self.user.is_superuser, self.user.kind) if self.user else None
        return ActorShape(user, own, self.scopes, self.is_shell, self.operator is not None, tuple(kinds))

    @cached_property
    def query_values(self) -> tuple[int, ...]:
        """The primary keys of the user, of the token's team if the user is no member of it, and of the user's
        teams.
        """
        teams = [team for _kind, rows in self._teams_by_kind() for team in rows]
        if self.token and self._token_shape(self.token) == "foreign":
            teams.insert(0, cast(int, self.token.team_id))
        return (self.user.pk, *teams) if self.user else tuple(teams)

    def _token_shape(self, token: Token) -> str:
        """Whether the token is for one team (``own`` or ``foreign``) or for all of the user's teams."""
        return "all" if token.team_id is None else "own" if self._memberships else "foreign"

    def _teams_by_kind(self) -> list[tuple[tuple[str, str], list[int]]]:
        """The ids of the user's teams by role and ``run_readers``. The last team of a kind is repeated so
        that the number is a power of two: actors in 5 to 8 teams then have the same shape.
        """
        rows = sorted((role, readers, team) for team, role, readers in self._memberships)
        kinds = groupby(rows, key=lambda row: row[:2])
        return [(kind, padded([team for _role, _readers, team in own])) for kind, own in kinds]

    @property
    def team_ids(self) -> frozenset[int]:
        return frozenset(self.roles)

    @property
    def caller(self) -> str:
        """The key under which uses, cached results and idempotency keys are stored: ``user:<id>``, ``shell``
        or ``anonymous``.
        """
        if self.user:
            return f"user:{self.user.pk}"
        return "shell" if self.is_shell else "anonymous"


class ActorShape(NamedTuple):
    """The shape of an actor for prepared querysets: two actors with the same shape differ only in the primary
    keys of their user and teams.
    """

    user: tuple[bool, str] | None  # is_superuser and kind
    token: str | None
    scopes: frozenset[str]
    is_shell: bool
    has_operator: bool
    teams: tuple[tuple[tuple[str, str], int], ...]  # role and run_readers, and the number of teams

    @property
    def kinds(self) -> Sequence[type[int]]:
        """The types of its values."""
        teams = sum(number for _kind, number in self.teams)
        return (int,) * ((self.user is not None) + (self.token == "foreign") + teams)

    def example(self, values: Sequence[int]) -> Actor:
        """An actor of this shape whose primary keys are the values. Its user and token have no other
        columns.
        """
        left = iter(values)
        names = ("id", "is_superuser", "kind")
        user = User.from_db(DEFAULT_DB_ALIAS, names, (next(left), *self.user)) if self.user else None
        foreign = next(left) if self.token == "foreign" else None
        rows = [(next(left), *kind) for kind, number in self.teams for _ in range(number)]
        team = rows[0][0] if self.token == "own" else foreign
        token = Token.from_db(DEFAULT_DB_ALIAS, ("team_id",), (team,)) if self.token else None
        operator = Actor(is_shell=True) if self.has_operator else None
        found = Actor(user, token, self.scopes, self.is_shell, operator)
        found.__dict__["_memberships"] = rows
        return found


ANONYMOUS = Actor()


def administrator_actor() -> Actor:
    """The actor of the command line, with administrator rights. Its user is the oldest active administrator,
    or None.
    """
    oldest = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return Actor(user=oldest, is_shell=True)


def shell_actor(username: str = "") -> Actor:
    """The actor of a command: the administrator, or with ``--as USER`` that user with their own permissions.
    Raises NOT_FOUND if there is no active user with this name. Raises SERVICE_ACCOUNT_IN_SHELL for a service
    account, whose rights come only from the scopes of its tokens.
    """
    if not username:
        return administrator_actor()
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=username)
    if user.is_service:
        raise SERVICE_ACCOUNT_IN_SHELL.refusal(user=username)
    return Actor(user=user, operator=administrator_actor())
