"""Authentication of API requests: bearer token, then session (with CSRF), otherwise anonymous.

An invalid credential is refused instead of treated as anonymous. A ``ShellRequest`` carries its actor; only
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

from registry.api.errors import CREDENTIALS_UNREADABLE, CSRF_FAILED
from registry.identity import tokens
from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.middleware import session_actor
from registry.models import Token, User


class ShellRequest(WSGIRequest):
    """A request from the machine's own shell, on behalf of ``shell_actor``."""

    shell_actor: Actor


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
    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, None] | None:
        inner = request._request
        if isinstance(inner, ShellRequest):
            inner.actor = inner.shell_actor  # type: ignore[attr-defined]
            return inner.shell_actor.user or AnonymousUser(), None
        actor = session_actor(inner)
        if actor.user is None:
            return None
        if actor.user.must_change_password:
            raise FORBIDDEN.refusal(action="use the API with a one-time password")
        _enforce_csrf(inner)
        return actor.user, None


def request_actor(request: Request) -> Actor:
    """The actor that authentication set on the request; anonymous if there is none."""
    found = request._request.actor  # type: ignore[attr-defined]
    return found if isinstance(found, Actor) else ANONYMOUS


def bearer_secret(header: str) -> str:
    """The secret in an Authorization header, unverified. Raises CREDENTIALS_UNREADABLE if malformed."""
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip() or not secret.isascii():
        raise CREDENTIALS_UNREADABLE.refusal()
    return secret.strip()


class _HeaderCsrf(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        raise CSRF_FAILED.refusal()


def _enforce_csrf(request: HttpRequest) -> None:
    """Raises CSRF_FAILED unless the X-CSRFToken header has the token. Ignores form fields, because looking
    for a token there would read the body.
    """
    shadow = copy.copy(request)
    shadow._post, shadow._files = QueryDict(), MultiValueDict()  # type: ignore[attr-defined]
    shadow._dont_enforce_csrf_checks = getattr(  # type: ignore[attr-defined]
        request, "_dont_enforce_csrf_checks", False
    )
    check = _HeaderCsrf(lambda _: HttpResponse())
    check.process_request(shadow)
    check.process_view(shadow, lambda _: HttpResponse(), (), {})
