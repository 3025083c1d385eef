"""The actor of a request: anonymous, a user in a session, a token for its owner, or the shell."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

from registry.core.errors import NOT_FOUND
from registry.core.sql import PreparedQuery
from registry.identity.errors import SERVICE_ACCOUNT_IN_SHELL
from registry.models import Membership, Role, RunReaders, Scope, Token, User

_MEMBERSHIPS = PreparedQuery(
    lambda user: Membership.objects.filter(user_id=user).values_list("team_id", "role", "team__run_readers"),
    int,
)


@dataclass(frozen=True)
class Actor:
    user: User | None = None
    token: Token | None = None
    scopes: frozenset[str] = field(default_factory=lambda: frozenset(Scope.values))
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
        return [row for row in _MEMBERSHIPS.all(self.user.pk) if only is None or row[0] == only]

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
        for name in ("_memberships", "roles", "shared_run_team_ids"):
            self.__dict__.pop(name, None)

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
