"""The parts of a request on which a kept answer depends."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.utils import translation

from portal.context import reader_theme, reader_zone
from portal.streaming.inner_request import Scope

PREFIXES = ("/api/v1/skills", "/api/v1/canonical/")  # paths of endpoints that keep answers
# Those of other protocols: they accept tokens in any form and ignore sessions.
FACADE_PREFIXES = ("/npm/@", "/clawhub/api/v1/", "/anthropic/v1/", "/openai/v1/", "/apm/v1/")
FACADE_ENDINGS = (".git/info/refs", ".git/git-upload-pack", "/marketplace.json")
WELL_KNOWN = "/.well-known/"
UPDATE_CHECK = b"x-skills-update-check"  # a request with this header is no use
LINK = b"Link "  # start of the credential of an install link
PAGE_PREFIX = "/skills/"  # paths of pages that are kept
MESSAGES_COOKIE = "messages"
CHANGED_COOKIE = "changed"  # of a browser that changed something while kept pages may show the earlier state
BODY_DIGEST = "skillquay.body_digest"  # in the scope of a POST whose answer depends on its body alone


@dataclass(slots=True)
class KeptRequest:
    """A GET or HEAD request, or a POST with BODY_DIGEST. ``key`` contains all parts on which the answer may
    depend, except the credential.

    ``credential`` is a digest; empty for anonymous clients. ``is_page`` means that each person gets an answer
    of their own. ``is_facade`` means that the path looks like one of another protocol.
    """

    key: tuple[object, ...]
    credential: bytes
    headers: dict[bytes, bytes]
    language: str
    csrf_cookie: str | None
    is_page: bool = False
    is_facade: bool = False


@dataclass(frozen=True)
class _Cookies:
    session: bytes  # a digest; empty without a session
    language: str  # of the answer; also depends on Accept-Language
    theme: str
    zone: str
    csrf: str | None
    is_settled: bool  # no messages to show, and no change that this browser has just made


def read_request(scope: Scope) -> KeptRequest | None:
    """The request, or None if its answer can't be kept: another method, a body without BODY_DIGEST, repeated
    headers, or a page that must show the latest state.
    """
    body = scope.get(BODY_DIGEST)
    if scope["type"] != "http" or (scope["method"] not in ("GET", "HEAD") and body is None):
        return None
    path: str = scope["path"]
    is_facade = path.startswith(FACADE_PREFIXES) or path.endswith(FACADE_ENDINGS) or WELL_KNOWN in path
    is_page = not is_facade and path.startswith(PAGE_PREFIX)
    if not is_facade and not is_page and not path.startswith(PREFIXES):
        return None
    headers = dict(scope["headers"])
    if len(headers) != len(scope["headers"]):
        return None
    if body is None and headers.get(b"content-length", b"0") != b"0":
        return None
    if b"transfer-encoding" in headers:
        return None
    cookies = _read_cookies(headers.get(b"cookie", b""), headers.get(b"accept-language", b""))
    if is_page and not (cookies.is_settled and _allows_kept_page(headers)):
        return None
    if headers.get(b"authorization") == b"":
        return None
    credential = _facade_credential(headers) if is_facade else _credential(headers, cookies)
    key = (
        path,
        scope["query_string"],
        headers.get(b"host"),
        headers.get(b"accept"),
        scope["scheme"],
        scope.get("root_path"),
        cookies.language,
        *((cookies.theme, cookies.zone) if is_page else ()),
        *((UPDATE_CHECK in headers, _link(headers), body) if is_facade else ()),
    )
    return KeptRequest(key, credential, headers, cookies.language, cookies.csrf, is_page, is_facade)


def _credential(headers: Mapping[bytes, bytes], cookies: _Cookies) -> bytes:
    if authorization := headers.get(b"authorization"):
        return hashlib.sha256(b"token " + authorization).digest()
    return cookies.session


def _facade_credential(headers: Mapping[bytes, bytes]) -> bytes:
    """The digest of the header that ``AnyTokenAuthentication`` reads."""
    if authorization := headers.get(b"authorization"):
        return hashlib.sha256(b"any token " + authorization).digest()
    key = headers.get(b"x-api-key")
    return hashlib.sha256(b"key " + key).digest() if key else b""


def _link(headers: Mapping[bytes, bytes]) -> bytes:
    """The install link, because its answers contain it and its access is limited to its target."""
    authorization = headers.get(b"authorization", b"")
    return hashlib.sha256(authorization).digest() if authorization.startswith(LINK) else b""


def _allows_kept_page(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser opens the page: not a script that refreshes it, a reload or a client with a token."""
    if b"authorization" in headers or b"cache-control" in headers:
        return False
    return not any(name.startswith(b"hx-") for name in headers)


@lru_cache(maxsize=4_096)
def _read_cookies(cookie: bytes, accept_language: bytes) -> _Cookies:
    request = HttpRequest()
    request.COOKIES = parse_cookie(cookie.decode("latin-1"))
    request.META["HTTP_ACCEPT_LANGUAGE"] = accept_language.decode("latin-1")
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return _Cookies(
        session=hashlib.sha256(b"session " + session.encode()).digest() if session else b"",
        language=translation.get_language_from_request(request),
        theme=reader_theme(request),
        zone=reader_zone(request).key,
        csrf=request.COOKIES.get(settings.CSRF_COOKIE_NAME),
        is_settled=request.COOKIES.keys().isdisjoint((MESSAGES_COOKIE, CHANGED_COOKIE)),
    )
