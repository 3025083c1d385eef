from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import F
from django.utils import timezone

from registry.core.sql import prepared

if TYPE_CHECKING:
    from registry.models.user import User


class UserSession(AbstractBaseSession):
    """A browser session. ``user`` is indexed, so that ending a user's sessions does not read all others."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="sessions")

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore


class SessionStore(DatabaseSessionStore):
    """The engine of SESSION_ENGINE: Django's database sessions, with the user in a column.

    One statement loads the session, the user and the user's memberships: nearly every page needs all three.
    """

    loaded_user: User | None = None
    memberships: Sequence[tuple[int, str, str]] = ()  # of ``loaded_user``: team id, role, ``run_readers``

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        return UserSession

    def create_model_instance(self, data: dict[str, Any]) -> UserSession:
        row: UserSession = super().create_model_instance(data)  # type: ignore[assignment]
        row.user_id = data.get(SESSION_KEY)
        return row

    def _get_session_from_db(self) -> UserSession | None:
        rows: Sequence[Any] = _sessions(self.session_key, timezone.now())
        if not rows:
            self._session_key = None  # as Django does for an unknown key
            return None
        self.loaded_user = rows[0].user
        self.memberships = [(row.team_key, row.role, row.run_readers) for row in rows if row.team_key]
        session: UserSession = rows[0]
        return session


@prepared
def _sessions(session: str | None, now: datetime) -> models.QuerySet[UserSession]:
    """The session with its user, once for each membership of the user."""
    of_user = "user__memberships__"
    rows = UserSession.objects.filter(session_key=session, expire_date__gt=now).select_related("user")
    return rows.annotate(
        team_key=F(f"{of_user}team_id"),
        role=F(f"{of_user}role"),
        run_readers=F(f"{of_user}team__run_readers"),
    )
