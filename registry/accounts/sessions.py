"""Lists and ends the sessions of a user."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import HASH_SESSION_KEY
from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import User, UserSession

CLIENT_KEY = "client"  # in a session: facts about the client, which SessionClientMiddleware stores


@dataclass(frozen=True)
class OpenSession:
    """A session in which the user is signed in. ``uid`` is a digest of the session key, which is a
    credential.
    """

    uid: str
    row: UserSession
    user_agent: str
    address: str
    started_at: datetime | None
    last_used_at: datetime | None
    is_current: bool


def list_sessions(user: User, current_key: str = "") -> list[OpenSession]:
    """The user's valid sessions: the one with ``current_key``, then the others, newest sign-in first."""
    valid = user.get_session_auth_hash()  # sessions from before a new password have another one
    found = [
        _open_session(row, data.get(CLIENT_KEY, {}), current_key)
        for row, data in ((row, row.get_decoded()) for row in sessions_of(user))
        if data.get(HASH_SESSION_KEY) == valid
    ]
    return sorted(found, key=lambda each: (each.is_current, each.row.expire_date), reverse=True)


def sessions_of(user: User) -> QuerySet[UserSession]:
    """The user's sessions that have not expired."""
    return UserSession.objects.filter(user=user, expire_date__gt=timezone.now())


def end_session(user: User, uid: str) -> None:
    """Signs the user out of one session. Raises NOT_FOUND if there is none with this uid."""
    row = next((each.row for each in list_sessions(user) if each.uid == uid), None)
    if row is None:
        raise NOT_FOUND.refusal(what="session", name=uid[:40])
    row.delete()
    audit.record(Actor(user=user), "user.end_sessions", user.username, count=1)


def end_other_sessions(user: User, current_key: str) -> int:
    """Signs the user out of all sessions except the one with ``current_key``. Returns the
    number of ended sessions.
    """
    count = sessions_of(user).exclude(session_key=current_key).delete()[0]
    audit.record(Actor(user=user), "user.end_sessions", user.username, count=count)
    return count


def end_sessions_as(user: User, by: Actor) -> int:
    """Ends all sessions of the user and returns their number. Requires administrator rights."""
    require(by, Action.USERS)
    count = end_sessions(user)
    audit.record(by, "user.end_sessions", user.username, count=count)
    return count


def end_sessions(user: User) -> int:
    """Ends the user's sessions without a permission check or audit entry, and returns their number."""
    return sessions_of(user).delete()[0]


def _open_session(row: UserSession, client: dict[str, str], current_key: str) -> OpenSession:
    return OpenSession(
        uid=hashlib.sha256(row.session_key.encode()).hexdigest()[:32],
        row=row,
        user_agent=client.get("user_agent", ""),
        address=client.get("address", ""),
        started_at=_moment(client.get("started_at")),
        last_used_at=_moment(client.get("last_used_at")),
        is_current=row.session_key == current_key,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
