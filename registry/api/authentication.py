"""Authentication of API requests: bearer token, otherwise session with a CSRF check, otherwise anonymous.

An invalid token is refused and never treated as anonymous. A ``ShellRequest`` carries its own actor; only
code in this process can create one.
"""

import copy

from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.datastructures import MultiValueDict
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from registry.accounts import second_factors
from registry.accounts.errors import PASSWORD_CHANGE_REQUIRED, SECOND_FACTOR_REQUIRED
from registry.api.errors import CREDENTIALS_UNREADABLE, CSRF_FAILED
from registry.identity import tokens
from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.middleware import session_actor
from registry.models import Token, User


class ShellRequest(WSGIRequest):
    """A request made by a command on this machine. Its actor is ``shell_actor``."""

    shell_actor: Actor


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        return authenticate_secret(request, bearer_secret(header))

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="skillquay"'


class SessionAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, None] | None:
        inner = request._request
        if isinstance(inner, ShellRequest):
            inner.actor = inner.shell_actor  # type: ignore[attr-defined]
            return inner.shell_actor.user or AnonymousUser(), None
        actor = session_actor(inner)
        if actor.user is None:
            return None
        if actor.user.must_change_password:
            raise PASSWORD_CHANGE_REQUIRED.refusal()
        if second_factors.is_missing(actor.user):
            raise SECOND_FACTOR_REQUIRED.refusal()
        _enforce_csrf(inner)
        return actor.user, None


def authenticate_secret(request: Request, secret: str) -> tuple[User, Token]:
    """Sets the request's actor to the token with this secret, and returns the token's user and the token.
    Raises the errors of ``tokens.actor_of``.
    """
    actor = tokens.actor_of(secret)
    assert actor.user
    assert actor.token
    request._request.actor = actor  # type: ignore[attr-defined]
    return actor.user, actor.token


def request_actor(request: Request) -> Actor:
    """The actor of the request: the token's or session's user, the shell's actor, or the anonymous actor."""
    found = request._request.actor  # type: ignore[attr-defined]
    return found if isinstance(found, Actor) else ANONYMOUS


def bearer_secret(header: str) -> str:
    """The secret of the bearer token in an Authorization header. Does not check that such a token exists.
    Raises CREDENTIALS_UNREADABLE if the header contains no bearer token.
    """
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip() or not secret.isascii():
        raise CREDENTIALS_UNREADABLE.refusal()
    return secret.strip()


class _HeaderCsrf(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        raise CSRF_FAILED.refusal()


def _enforce_csrf(request: HttpRequest) -> None:
    """Raises CSRF_FAILED if Django's CSRF check fails. Only the header X-CSRFToken counts: looking for the
    token in form fields would read the body.
    """
    shadow = copy.copy(request)
    shadow._post, shadow._files = QueryDict(), MultiValueDict()  # type: ignore[attr-defined]
    shadow._dont_enforce_csrf_checks = getattr(  # type: ignore[attr-defined]
        request, "_dont_enforce_csrf_checks", False
    )
    check = _HeaderCsrf(lambda _: HttpResponse())
    check.process_request(shadow)
    check.process_view(shadow, lambda _: HttpResponse(), (), {})
