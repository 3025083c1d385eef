"""Middleware that sets ``request.actor`` from the session, and the client address of audit entries."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from registry.identity import client_address
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import User


class ActorRequest(HttpRequest):
    """The type of ``request`` in views, with the actor that ``ActorMiddleware`` sets."""

    actor: Actor


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


def session_actor(request: HttpRequest) -> Actor:
    """The actor of the session's user; the anonymous actor if no active person is signed in."""
    user = request.user
    if isinstance(user, User) and user.is_active and not user.is_service:
        return Actor(user=user)
    return ANONYMOUS
