"""Who asks: a stranger, a person in a session, or a token acting for its owner. Built once a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from registry.models import Membership, Role, Scope, Token, User


@dataclass(frozen=True)
class Actor:
    user: User | None = None
    token: Token | None = None
    scopes: frozenset[str] = field(default_factory=lambda: frozenset(Scope.values))

    @property
    def is_signed_in(self) -> bool:
        return self.user is not None

    @property
    def is_administrator(self) -> bool:
        """A token bound to a team never has more than that team."""
        return bool(self.user and self.user.is_superuser and not (self.token and self.token.team_id))

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
        return f"user:{self.user.pk}" if self.user else "anonymous"


ANONYMOUS = Actor()
