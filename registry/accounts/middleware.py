"""Middleware that records in each session the client's user agent, address and times of use."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import UpdateError
from django.db import OperationalError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from registry.accounts.sessions import CLIENT_KEY

LAST_USED_INTERVAL = timedelta(minutes=10)  # each update writes to the database
_MAX_USER_AGENT = 300


class SessionClientMiddleware:
    """Stores user agent, address and time at sign-in, and fixes the time at which the session expires. Later
    updates the time of the last use, at most every ``LAST_USED_INTERVAL``.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.session.accessed and SESSION_KEY in request.session:
            _record_use(request)
        return response


def _record_use(request: HttpRequest) -> None:
    session, now = request.session, timezone.now()
    client = session.get(CLIENT_KEY)
    if client is None:
        # A fixed time: later uses don't prolong the session.
        session.set_expiry(now + timedelta(seconds=settings.SESSION_COOKIE_AGE))
        client = {
            "user_agent": request.headers.get("User-Agent", "")[:_MAX_USER_AGENT],
            "address": request.META.get("REMOTE_ADDR", ""),
            "started_at": now.isoformat(),
        }
    elif now - datetime.fromisoformat(client["last_used_at"]) < LAST_USED_INTERVAL:
        return
    is_modified = session.modified
    session[CLIENT_KEY] = {**client, "last_used_at": now.isoformat()}
    # A full disk must not stop readers, and a session that was ended meanwhile stays ended.
    with suppress(OperationalError, UpdateError):
        session.save()
    session.modified = is_modified
