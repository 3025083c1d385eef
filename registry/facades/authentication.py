"""Authenticates clients of other protocols by an access token, in any form that they send.

Sessions are ignored, so that a page of another site can't make a signed-in browser call these URLs.
"""

import base64
import binascii

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from registry.api.authentication import TokenAuthentication, authenticate_secret, bearer_secret
from registry.api.errors import CREDENTIALS_UNREADABLE
from registry.core.addresses import set_url_prefix
from registry.identity.actors import ANONYMOUS
from registry.install_links.access import link_actor, link_prefix
from registry.models import Token, User

LINK = "Link "  # start of the header


class AnyTokenAuthentication(BaseAuthentication):
    """Accepts ``Authorization: Bearer TOKEN``, ``Authorization: Basic`` with the token as password,
    ``X-Api-Key: TOKEN``, and ``Authorization: Link SECRET``, into which the web server turns an install link.
    Without any of them, the actor is anonymous.
    """

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        header, key = request.META.get("HTTP_AUTHORIZATION"), request.META.get("HTTP_X_API_KEY")
        if header is None and not key:
            request._request.actor = ANONYMOUS  # type: ignore[attr-defined]
            return None
        if header and header.startswith(LINK):
            return _authenticate_link(request, header.removeprefix(LINK))
        return authenticate_secret(request, _secret(header) if header else str(key).strip())

    def authenticate_header(self, request: Request) -> str:
        return TokenAuthentication().authenticate_header(request)


def _authenticate_link(request: Request, secret: str) -> tuple[User, Token]:
    """Sets the actor of the install link, and the prefix of the addresses in the answer. Raises the errors of
    ``link_actor``.
    """
    actor = link_actor(secret, request._request.path)
    assert actor.user
    assert actor.token
    request._request.actor = actor  # type: ignore[attr-defined]
    set_url_prefix(link_prefix(secret))
    return actor.user, actor.token


def _secret(header: str) -> str:
    """The token in an Authorization header. Raises CREDENTIALS_UNREADABLE if it contains none."""
    return _password(header) if header.strip().lower().startswith("basic ") else bearer_secret(header)


def _password(header: str) -> str:
    """The password in a Basic header. Raises CREDENTIALS_UNREADABLE if the header is malformed."""
    try:
        pair = base64.b64decode(header.strip()[len("basic ") :].strip(), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        raise CREDENTIALS_UNREADABLE.refusal() from None
    _, colon, password = pair.partition(":")
    if not colon or not password:
        raise CREDENTIALS_UNREADABLE.refusal()
    return password
