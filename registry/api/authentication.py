"""Who asks: the owner of a bearer token, else the person of a session (with CSRF), else a stranger.

A credential that does not hold is refused; nobody becomes a stranger by a typing error.
"""

from __future__ import annotations

import copy

from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.datastructures import MultiValueDict
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from registry import tokens
from registry.actors import ANONYMOUS, Actor
from registry.middleware import session_actor
from registry.models import Token, User
from registry.packages.problems import refuse


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        actor = tokens.actor_of(bearer_secret(header))
        assert actor.user
        assert actor.token
        request._request.actor = actor  # type: ignore[attr-defined]
        return actor.user, actor.token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="skillquay"'


class SessionAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, None] | None:
        actor = session_actor(request._request)
        if actor.user is None:
            return None
        if actor.user.must_change_password:
            raise refuse("FORBIDDEN", action="use the API with a one-time password")
        _enforce_csrf(request._request)
        return actor.user, None


def actor(request: Request) -> Actor:
    """Who asks, once the request has been authenticated."""
    found = request._request.actor  # type: ignore[attr-defined]
    return found if isinstance(found, Actor) else ANONYMOUS


def bearer_secret(header: str) -> str:
    """The secret in an Authorization header, of which only the form is checked here."""
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip() or not secret.isascii():
        raise refuse("CREDENTIALS_UNREADABLE")
    return secret.strip()


class _HeaderCsrf(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        raise refuse("CSRF_FAILED")


def _enforce_csrf(request: HttpRequest) -> None:
    """The token is looked for in X-CSRFToken alone: reading it from the form would read the body here."""
    shadow = copy.copy(request)
    shadow._post, shadow._files = QueryDict(), MultiValueDict()  # type: ignore[attr-defined]
    shadow._dont_enforce_csrf_checks = getattr(  # type: ignore[attr-defined]
        request, "_dont_enforce_csrf_checks", False
    )
    check = _HeaderCsrf(lambda _: HttpResponse())
    check.process_request(shadow)
    check.process_view(shadow, lambda _: HttpResponse(), (), {})
