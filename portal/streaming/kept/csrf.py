"""CSRF tokens in kept pages: each visitor gets tokens of their own cookie, as from Django."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from secrets import token_bytes

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import (  # type: ignore[attr-defined]
    CSRF_ALLOWED_CHARS,
    CSRF_SECRET_LENGTH,
    CsrfViewMiddleware,
    _does_token_match,
    get_token,
)

_TOKEN = re.compile(rb"\b[A-Za-z0-9]{64}\b")
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


def split_at_tokens(content: bytes, secret: str) -> tuple[bytes, ...]:
    """The parts of the page between its tokens of this secret. Other texts that look like tokens stay."""
    parts, start = [], 0
    for match in _TOKEN.finditer(content):
        if _does_token_match(match[0].decode(), secret):
            parts.append(content[start : match.start()])
            start = match.end()
    return (*parts, content[start:])


def make_token(cookie: str | None) -> tuple[bytes, tuple[bytes, bytes]]:
    """A token for the visitor with this CSRF cookie, and the header that sets or renews the cookie."""
    secret = _secret_of(cookie) or _random_text()
    before, after = _cookie_header(int(time.time()))
    return _mask(secret), (b"set-cookie", b"%b%b%b" % (before, secret, after))


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


@lru_cache(maxsize=1)
def _cookie_header(now: int) -> tuple[bytes, bytes]:
    """The texts around the secret in the header that sets the cookie, with the expiry at this second."""
    request, response = HttpRequest(), HttpResponse()
    get_token(request)
    _middleware.process_response(request, response)
    header = response.cookies[settings.CSRF_COOKIE_NAME]
    before, _, after = header.OutputString().partition(header.value)
    return before.encode(), after.encode()
