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
_LETTERS, _NUMBER = CSRF_ALLOWED_CHARS, len(CSRF_ALLOWED_CHARS)
_UNBIASED = 256 // _NUMBER * _NUMBER  # bytes below it stand for each letter equally often
_POSITIONS = {letter: at for at, letter in enumerate(_LETTERS)}
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
    request = HttpRequest()
    if cookie is not None:
        request.COOKIES[settings.CSRF_COOKIE_NAME] = cookie
    _middleware.process_request(request)  # checks the cookie
    secret: str = request.META.get("CSRF_COOKIE") or _random_text()
    before, after = _cookie_header(int(time.time()))
    return _mask(secret).encode(), (b"set-cookie", f"{before}{secret}{after}".encode())


def _mask(secret: str) -> str:
    """A token of the secret, as ``get_token`` makes it, but ten times faster."""
    mask = _random_text()
    pairs = zip(secret, mask, strict=True)
    return mask + "".join(_LETTERS[(_POSITIONS[one] + _POSITIONS[other]) % _NUMBER] for one, other in pairs)


def _random_text() -> str:
    """Random letters and digits, each equally likely."""
    text = ""
    while len(text) < CSRF_SECRET_LENGTH:
        text += "".join([_LETTERS[byte % _NUMBER] for byte in token_bytes(48) if byte < _UNBIASED])
    return text[:CSRF_SECRET_LENGTH]


@lru_cache(maxsize=1)
def _cookie_header(now: int) -> tuple[str, str]:
    """The texts around the secret in the header that sets the cookie, with the expiry at this second."""
    request, response = HttpRequest(), HttpResponse()
    get_token(request)
    _middleware.process_response(request, response)
    header = response.cookies[settings.CSRF_COOKIE_NAME]
    before, _, after = header.OutputString().partition(header.value)
    return before, after
