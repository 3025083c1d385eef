"""Who asks: a stranger, a person in a session, a token for its owner, or the shell. Built once a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from registry.models import Membership, Role, Scope, Token, User
from registry.packages.problems import refuse


@dataclass(frozen=True)
class Actor:
    user: User | None = None
    token: Token | None = None
    scopes: frozenset[str] = field(default_factory=lambda: frozenset(Scope.values))
    is_shell: bool = False  # the command line of the machine, which is the administrator's

    @property
    def is_signed_in(self) -> bool:
        return self.is_shell or self.user is not None

    @property
    def is_administrator(self) -> bool:
        """A token bound to a team never has more than that team."""
        if self.token and self.token.team_id:
            return False
        return self.is_shell or bool(self.user and self.user.is_superuser)

    @cached_property
    def roles(self) -> dict[int, Role]:
        """The owner's present role in each team, narrowed to the token's team."""
        if self.user is None:
            return {}
        rows = Membership.objects.filter(user=self.user)
        if self.token and self.token.team_id:
            rows = rows.filter(team_id=self.token.team_id)
        return {team: Role(role) for team, role in rows.values_list("team_id", "role")}

    @property
    def team_ids(self) -> frozenset[int]:
        return frozenset(self.roles)

    @property
    def caller(self) -> str:
        """The key under which uses, cached answers and idempotency keys are held apart."""
        if self.user:
            return f"user:{self.user.pk}"
        return "shell" if self.is_shell else "anonymous"


ANONYMOUS = Actor()


def administrator_actor() -> Actor:
    """The shell: it has the administrator's power, and their name where there is one already."""
    oldest = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return Actor(user=oldest, is_shell=True)


def shell_actor(username: str = "") -> Actor:
    """Who a command acts as: the administrator, or with ``--as USER`` no more than that person."""
    if not username:
        return administrator_actor()
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise refuse("NOT_FOUND", what="user", name=username)
    return Actor(user=user)
