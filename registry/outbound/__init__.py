"""The one door out: every request of ours to an address that somebody else chose goes through here.

A name is resolved once, its addresses are checked, and exactly a checked one is dialled; redirects go through
the same. Proxies, netrc and credentials of the host are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from registry.outbound.addresses import Target, target
from registry.outbound.answers import Answer
from registry.outbound.dialling import Clock, send
from registry.packages.problems import refuse

SECONDS = 60.0  # for a whole exchange, redirects included
_REDIRECTS = 5
_KEEPING_METHOD = (307, 308)
_MOVED = (301, 302, 303, *_KEEPING_METHOD)
_SECRET = frozenset({"authorization", "cookie", "proxy-authorization"})  # and x-…, as X-Api-Key


@dataclass(frozen=True)
class Fetched:
    """A whole answer; ``headers`` are named in small letters, ``body`` is decoded."""

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
    timeout: float = SECONDS,
    follow: bool = True,
    on_clock: Callable[[Clock], None] | None = None,
) -> Fetched:
    """The answer of an address, whatever its status; ``limit`` is the body's most bytes, decoded.

    Without ``follow`` a redirect is an answer like any. ``on_clock`` gets what can cut the line meanwhile.
    """
    asked = opened(
        url,
        method=method,
        headers=headers,
        body=body,
        limit=limit,
        timeout=timeout,
        follow=follow,
        on_clock=on_clock,
    )
    with asked as answer:
        return Fetched(answer.status, answer.headers, answer.rest(), answer.url)


@contextmanager
def opened(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    limit: int,
    timeout: float = SECONDS,
    follow: bool = True,
    on_clock: Callable[[Clock], None] | None = None,
) -> Iterator[Answer]:
    """The same, read piece by piece; refuses as OUTBOUND_… says, never with another exception."""
    asked = {name.lower(): value for name, value in (headers or {}).items()}
    place = target(url)
    with Clock(place.host, timeout) as clock:
        if on_clock:
            on_clock(clock)
        for _ in range(_REDIRECTS + 1):
            answer = send(place, method, asked, body, clock=clock, limit=limit)
            location = answer.headers.get("location")
            if not follow or answer.status not in _MOVED or not location:
                try:
                    yield answer
                finally:
                    answer.close()
                return
            answer.close()
            following = target(urljoin(place.url, location))
            method, body = _method_after(answer.status, method, body)
            asked = _headers_after(place, following, asked, body)
            place = following
    raise refuse("OUTBOUND_REDIRECTS", path=shown(url), most=_REDIRECTS)


def _method_after(status: int, method: str, body: bytes | None) -> tuple[str, bytes | None]:
    if status in _KEEPING_METHOD or method in ("GET", "HEAD"):
        return method, body
    return "GET", None


def _headers_after(
    place: Target, following: Target, asked: dict[str, str], body: bytes | None
) -> dict[str, str]:
    """What the next address may hear: to another origin no credential goes along."""
    kept = {name: value for name, value in asked.items() if body is not None or name != "content-type"}
    if place.origin == following.origin:
        return kept
    return {name: value for name, value in kept.items() if name not in _SECRET and not name.startswith("x-")}


def shown(url: str) -> str:
    """An address as a message may hold it: without query, which may hold a signature."""
    return urlsplit(url)._replace(query="", fragment="").geturl()[:500]
