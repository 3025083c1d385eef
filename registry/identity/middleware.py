"""Middleware that sets ``request.actor`` from the session, and the client address of audit entries."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from registry.identity import client_address
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import User


class ActorRequest(HttpRequest):
    """The type of ``request`` in views, with the actor that ``ActorMiddleware`` sets."""

    actor: Actor


class SessionUserMiddleware(AuthenticationMiddleware):
    """Sets ``request.user`` as Django does, but from the row that is read with the session."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: session_user(request))  # type: ignore[assignment]


class ActorMiddleware:
    """Sets ``request.actor``, and binds the client address for audit entries while the request runs. The
    session is read only when the actor is first used.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.actor = SimpleLazyObject(lambda: session_actor(request))  # type: ignore[attr-defined]
        with client_address.bind(_address_of(request)):
            return self.get_response(request)


def _address_of(request: HttpRequest) -> str:
    """The client address, which the server has read from trusted proxies. Requests of the shell have none."""
    return "" if hasattr(request, "shell_actor") else request.META.get("REMOTE_ADDR", "")


def session_user(request: HttpRequest) -> User | AnonymousUser:
    """The user of the session, as Django's ``get_user`` returns it, but without another query."""
    if not hasattr(request, "_cached_user") and (user := _verified_user(request.session)):
        request._cached_user = user  # type: ignore[attr-defined]
    found: User | AnonymousUser = get_user(request)
    return found


def _verified_user(session: Any) -> User | None:
    """The user that was loaded with the session; None if Django must examine the session."""
    key, user = session.get(SESSION_KEY), getattr(session, "loaded_user", None)
    if not (user and str(user.pk) == key and user.is_active):
        return None
    is_known = session.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
    digest = session.get(HASH_SESSION_KEY) or ""
    return user if is_known and constant_time_compare(digest, user.get_session_auth_hash()) else None


def session_actor(request: HttpRequest) -> Actor:
    """The actor of the session's user; the anonymous actor if no active person is signed in."""
    user = session_user(request) if isinstance(request.user, SimpleLazyObject) else request.user
    if not isinstance(user, User) or not user.is_active or user.is_service:
        return ANONYMOUS
    session = getattr(request, "session", None)
    is_loaded = getattr(session, "loaded_user", None) == user
    return Actor.of_session(user, session.memberships) if session and is_loaded else Actor(user=user)
