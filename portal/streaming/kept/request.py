"""The parts of a request on which a kept answer depends."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.utils import translation

from portal.streaming.inner_request import Scope

PREFIXES = ("/api/v1/skills", "/api/v1/canonical/")  # paths of endpoints that keep answers
_MAX_HEADER_BYTES = 1_000
_IGNORED_HEADERS = frozenset(
    {b"x-request-id", b"user-agent", b"accept-encoding", b"if-none-match", b"range", b"if-range"}
)


@dataclass(frozen=True)
class KeptRequest:
    """A GET or HEAD request. ``key`` contains all parts on which the answer may depend, except the
    credential.

    ``credential`` is a digest; empty for anonymous clients.
    """

    key: tuple[object, ...]
    credential: bytes
    headers: dict[bytes, bytes]
    language: str


def read_request(scope: Scope) -> KeptRequest | None:
    """The request, or None if its answer can't be kept: another method, a body, or repeated headers."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return None
    path: str = scope["path"]
    if not path.startswith(PREFIXES):
        return None
    headers = dict(scope["headers"])
    if len(headers) != len(scope["headers"]) or headers.get(b"content-length", b"0") != b"0":
        return None
    if b"transfer-encoding" in headers:
        return None
    session, language = _read_cookies(headers.get(b"cookie", b""), headers.get(b"accept-language", b""))
    credential = b""
    if authorization := headers.get(b"authorization"):
        credential = hashlib.sha256(b"token " + authorization).digest()
    elif b"authorization" in headers:
        return None
    elif session:
        credential = session
    key = (
        path,
        scope["query_string"],
        headers.get(b"host"),
        headers.get(b"accept"),
        scope["scheme"],
        scope.get("root_path"),
        language,
    )
    return KeptRequest(key, credential, headers, language)


@lru_cache(maxsize=4_096)
def _read_cookies(cookie: bytes, accept_language: bytes) -> tuple[bytes, str]:
    """A digest of the session's key (empty if there is no session), and the language of the answer."""
    request = HttpRequest()
    request.COOKIES = parse_cookie(cookie.decode("latin-1"))
    request.META["HTTP_ACCEPT_LANGUAGE"] = accept_language.decode("latin-1")
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    digest = hashlib.sha256(b"session " + session.encode()).digest() if session else b""
    return digest, translation.get_language_from_request(request)
