"""The access of clients: the properties of an actor on which an answer can depend."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils import timezone

from registry.changes.dependency import Dependency
from registry.changes.numbers import ChangeLog
from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.tokens import LAST_USED_INTERVAL, note_token_use
from registry.models import ChangeKind

MAX_CREDENTIALS = 5_000  # each takes about 6 kB
_SESSION_S = 600.0  # Django stores the last use of a session every ten minutes
Key = tuple[object, ...]


def access_key(actor: Actor) -> Key:
    """The access of the actor as a key. Actors with equal keys get equal answers."""
    token = actor.token
    return (
        actor.is_signed_in,
        actor.is_administrator,
        bool(actor.user and actor.user.is_service),
        token is not None,
        bool(token and token.team_id),
        tuple(sorted(actor.scopes)) if token else (),
        tuple(sorted(actor.roles.items())),
    )


ANONYMOUS_KEY = access_key(ANONYMOUS)


@dataclass
class Access:
    """The access of clients with one credential. It holds until a dependency changes."""

    key: Key = ANONYMOUS_KEY
    actor: Actor = ANONYMOUS
    caller: str = ANONYMOUS.caller
    dependencies: Collection[Dependency] = ()
    ends_at: float = float("inf")  # Unix time
    token_id: int | None = None
    noted_at: float = field(default_factory=time.time)  # the last use of the token
    seen: int = -1  # the latest change number for which the access is known to hold

    def note_use(self, address: str, now: float) -> None:
        if self.token_id and now - self.noted_at >= LAST_USED_INTERVAL.total_seconds():
            self.noted_at = now
            note_token_use(self.token_id, address)


def access_of(request: HttpRequest) -> Access:
    """The access of the request's actor."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    if actor.user is None:
        return Access()
    teams = {*actor.team_ids, *({actor.token.team_id} if actor.token and actor.token.team_id else ())}
    return Access(
        key=access_key(actor),
        actor=actor.detached(),
        caller=actor.caller,
        dependencies=(
            (ChangeKind.USER.value, actor.user.pk),
            *((ChangeKind.TEAM.value, team) for team in sorted(teams)),
        ),
        ends_at=_token_end(actor, request) if actor.token else _session_end(request),
        token_id=actor.token.pk if actor.token else None,
    )


def _token_end(actor: Actor, request: HttpRequest) -> float:
    assert actor.token
    ends_at, previous = actor.token.expires_at, actor.token.previous_expires_at
    if previous and previous > timezone.now():  # the request may have used the previous secret
        ends_at = min(ends_at, previous)
    return ends_at.timestamp()


def _session_end(request: HttpRequest) -> float:
    return min(request.session.get_expiry_date().timestamp(), time.time() + _SESSION_S)


class AccessStore:
    """The access of clients by credential; the least recently used are dropped above
    MAX_CREDENTIALS.
    """

    def __init__(self) -> None:
        self.known: OrderedDict[bytes, Access] = OrderedDict()

    def find(self, credential: bytes, log: ChangeLog, now: float) -> Access | None:
        access = self.known.get(credential)
        if access is None:
            return None
        if now >= access.ends_at or not (
            access.seen == log.number or log.is_current(access.seen, access.dependencies)
        ):
            del self.known[credential]
            return None
        access.seen = log.number
        self.known.move_to_end(credential)
        return access

    def put(self, credential: bytes, access: Access) -> None:
        self.known[credential] = access
        while len(self.known) > MAX_CREDENTIALS:
            self.known.popitem(last=False)
