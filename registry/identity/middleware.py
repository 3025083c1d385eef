"""Middleware that sets the actor of a request."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from registry.identity.actors import ANONYMOUS, Actor
from registry.models import User


class ActorRequest(HttpRequest):
    """The type of requests that views get: a request with an actor."""

    actor: Actor


class ActorMiddleware:
    """Sets ``request.actor`` from the session, lazily: the session is read at the first use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.actor = SimpleLazyObject(lambda: session_actor(request))  # type: ignore[attr-defined]
        return self.get_response(request)


def session_actor(request: HttpRequest) -> Actor:
    """The actor of the session's user, or the anonymous actor."""
    user = request.user
    return Actor(user=user) if isinstance(user, User) and user.is_active else ANONYMOUS
