"""CSRF tokens in kept pages: each visitor gets tokens of their own cookie, as from Django."""

from __future__ import annotations

import re
import time
from functools import cache
from secrets import token_bytes

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import (  # type: ignore[attr-defined]
    CSRF_ALLOWED_CHARS,
    CSRF_SECRET_LENGTH,
    CsrfViewMiddleware,
    _add_new_csrf_cookie,
    get_token,
)
from django.utils.http import http_date

_PAGE_TOKEN = "skillquay.csrf_token"  # in ``request.META``: the secret, and its token of this page
_SECRET = re.compile(rf"[A-Za-z0-9]{{{CSRF_SECRET_LENGTH}}}")
_LETTERS, _NUMBER = CSRF_ALLOWED_CHARS, len(CSRF_ALLOWED_CHARS)
_UNBIASED = 256 // _NUMBER * _NUMBER  # bytes below it stand for each letter equally often
_TO_LETTERS = bytes(ord(_LETTERS[number % _NUMBER]) for number in range(256))
_NOT_UNBIASED = bytes(range(_UNBIASED, 256))
_MASKED = {
    (ord(one), ord(other)): _LETTERS[(at + more) % _NUMBER]
    for at, one in enumerate(_LETTERS)
    for more, other in enumerate(_LETTERS)
}
_middleware = CsrfViewMiddleware(lambda request: HttpResponse())


def page_token(request: HttpRequest) -> str:
    """The CSRF token of all forms of this page. Django's ``get_token`` makes another one at each call, which
    ``split_at_tokens`` could not find.
    """
    secret = request.META.get("CSRF_COOKIE") or _add_new_csrf_cookie(request)
    request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True  # as in Django, the response renews the cookie
    known = request.META.get(_PAGE_TOKEN)
    if known is None or known[0] != secret:  # the secret changes at sign-in
        known = request.META[_PAGE_TOKEN] = secret, _mask(secret.encode()).decode()
    return known[1]


def split_at_tokens(content: bytes, request: HttpRequest) -> tuple[bytes, ...]:
    """The parts of the page between its tokens."""
    return tuple(content.split(page_token(request).encode()))


def make_token(cookie: str | None) -> tuple[bytes, tuple[bytes, bytes]]:
    """A token for the visitor with this CSRF cookie, and the header that sets or renews the cookie."""
    secret = _secret_of(cookie) or _random_text()
    before, between, after = _cookie_header()
    expires = http_date(time.time() + settings.CSRF_COOKIE_AGE).encode()
    return _mask(secret), (b"set-cookie", b"%b%b%b%b%b" % (before, secret, between, expires, after))


def _secret_of(cookie: str | None) -> bytes | None:
    """The visitor's secret; None without a valid cookie. Django also accepts cookies of earlier versions."""
    if cookie is None:
        return None
    if _SECRET.fullmatch(cookie):
        return cookie.encode()
    request = HttpRequest()
    request.COOKIES[settings.CSRF_COOKIE_NAME] = cookie
    _middleware.process_request(request)
    secret: str | None = request.META.get("CSRF_COOKIE")
    return secret.encode() if secret else None


def _mask(secret: bytes) -> bytes:
    """A token of the secret, as ``get_token`` makes it, but faster."""
    mask = _random_text()
    return mask + "".join(map(_MASKED.__getitem__, zip(secret, mask, strict=True))).encode()


def _random_text() -> bytes:
    """Random letters and digits, each equally likely."""
    text = b""
    while len(text) < CSRF_SECRET_LENGTH:
        text += token_bytes(48).translate(_TO_LETTERS, _NOT_UNBIASED)
    return text[:CSRF_SECRET_LENGTH]


@cache
def _cookie_header() -> tuple[bytes, bytes, bytes]:
    """The texts of the header that sets the cookie, around the secret and around the time of expiry."""
    request, response = HttpRequest(), HttpResponse()
    get_token(request)
    _middleware.process_response(request, response)
    cookie = response.cookies[settings.CSRF_COOKIE_NAME]
    before, _, rest = cookie.OutputString().partition(cookie.value)
    between, _, after = rest.partition(cookie["expires"])
    return before.encode(), between.encode(), after.encode()
