"""The HTTP client for every URL from a user, a package or a remote server.

For each request, the host is resolved once and only an allowed address is contacted; redirects get the same
checks. Proxy settings, netrc files and credentials of the host are never read.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from registry.http_client.addresses import Target, parse_redirect, parse_target
from registry.http_client.connection import Deadline, send
from registry.http_client.errors import OUTBOUND_REDIRECTS
from registry.http_client.response import FetchStream, OnRead

DEFAULT_TIMEOUT = 60.0  # seconds for a whole exchange, including redirects
_MAX_REDIRECTS = 5
_KEEP_METHOD = (307, 308)
_REDIRECT_STATUSES = (301, 302, 303, *_KEEP_METHOD)
# Credentials are these headers and all x-… headers, such as X-Api-Key.
_CREDENTIAL_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True)
class FetchResponse:
    """A complete response with lower-case header names and a decoded body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str  # after redirects


def fetch(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    limit: int,
    timeout: float = DEFAULT_TIMEOUT,
    follow: bool = True,
    on_deadline: Callable[[Deadline], None] | None = None,
    on_read: OnRead | None = None,
) -> FetchResponse:
    """Sends a request and returns the response, whatever its status. All errors are OUTBOUND_… refusals.

    ``limit`` is the maximum size of the decoded body in bytes, ``timeout`` the seconds for the whole
    exchange. With ``follow=False``, a redirect is returned like any response. ``on_deadline`` receives the
    deadline, by which another thread can stop the exchange; ``on_read`` receives the size of each chunk.
    """
    exchange = stream(
        url,
        method=method,
        headers=headers,
        body=body,
        limit=limit,
        timeout=timeout,
        follow=follow,
        on_deadline=on_deadline,
        on_read=on_read,
    )
    with exchange as response:
        return FetchResponse(response.status, response.headers, response.read_all(), response.url)


@contextmanager
def stream(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    limit: int,
    timeout: float = DEFAULT_TIMEOUT,
    follow: bool = True,
    on_deadline: Callable[[Deadline], None] | None = None,
    on_read: OnRead | None = None,
) -> Iterator[FetchStream]:
    """Like ``fetch``, but as a context manager whose caller reads the body in chunks. Closes the response at
    the end.
    """
    request_headers = {name.lower(): value for name, value in (headers or {}).items()}
    current = parse_target(url)
    with Deadline(current.host, timeout) as deadline:
        if on_deadline:
            on_deadline(deadline)
        for _ in range(_MAX_REDIRECTS + 1):
            response = send(current, method, request_headers, body, deadline=deadline, limit=limit)
            location = response.headers.get("location")
            if not follow or response.status not in _REDIRECT_STATUSES or not location:
                response.on_read = on_read
                try:
                    yield response
                finally:
                    response.close()
                return
            response.close()
            redirected = parse_redirect(current, location)
            method, body = _method_after(response.status, method, body)
            request_headers = _headers_after(current, redirected, request_headers, body)
            current = redirected
    raise OUTBOUND_REDIRECTS.refusal(most=_MAX_REDIRECTS).at(redact_url(url))


def _method_after(status: int, method: str, body: bytes | None) -> tuple[str, bytes | None]:
    if status in _KEEP_METHOD or method in ("GET", "HEAD"):
        return method, body
    return "GET", None


def _headers_after(
    current: Target, redirected: Target, headers: dict[str, str], body: bytes | None
) -> dict[str, str]:
    """The headers for a redirected request: no content type without a body, and no credentials or ``x-``
    headers for another origin.
    """
    remaining = {name: value for name, value in headers.items() if body is not None or name != "content-type"}
    if current.origin == redirected.origin:
        return remaining
    return {
        name: value
        for name, value in remaining.items()
        if name not in _CREDENTIAL_HEADERS and not name.startswith("x-")
    }


def redact_url(url: str) -> str:
    """The URL for use in messages: at most 500 characters, without the fragment, and without the query, which
    may contain a signature.
    """
    return urlsplit(url)._replace(query="", fragment="").geturl()[:500]
