from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from registry.actors import ANONYMOUS, Actor
from registry.models import User


class ActorRequest(HttpRequest):
    """A request as views get it: ``actor`` is who asks."""

    actor: Actor


class ActorMiddleware:
    """Sets ``request.actor`` from the session; nothing is read before somebody looks at it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.actor = SimpleLazyObject(lambda: session_actor(request))  # type: ignore[attr-defined]
        return self.get_response(request)


def session_actor(request: HttpRequest) -> Actor:
    """The actor of the session's person, else the stranger."""
    user = request.user
    return Actor(user=user) if isinstance(user, User) and user.is_active else ANONYMOUS
