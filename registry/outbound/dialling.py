"""One request over a connection of its own to a checked address, all of it before one deadline."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from types import TracebackType
from typing import Self

from django.conf import settings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from registry.outbound.addresses import Target, dialled
from registry.outbound.answers import Answer, broken
from registry.packages.problems import Refused, refuse

_AGENT = "skillquay"


class Clock:
    """The deadline of an exchange: when it comes, the line is cut, wherever the other side dawdles."""

    def __init__(self, host: str, seconds: float) -> None:
        self.host, self.seconds = host, seconds
        self.ends = time.monotonic() + seconds
        self.line: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self.holds(None)

    @property
    def left(self) -> float:
        left = self.ends - time.monotonic()
        if left <= 0:
            raise self.refusal()
        return left

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.ends

    def holds(self, line: socket.socket | None) -> None:
        """Watches another line, a second handle of the connection's socket that TLS does not take over."""
        before, self.line = self.line, line
        if before:
            before.close()

    def refusal(self) -> Refused:
        return refuse("OUTBOUND_TIMEOUT", path=self.host, host=self.host, seconds=f"{self.seconds:g}")

    def stop(self) -> None:
        """Ends the exchange from another thread, as if its deadline had come."""
        self.ends = time.monotonic()
        self._cut()

    def _cut(self) -> None:
        if line := self.line:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


class _Plain(HTTPConnection):
    """Dials the address that was checked; everything else speaks of the name."""

    checked: str
    clock: Clock

    def _new_conn(self) -> socket.socket:
        line = socket.create_connection((self.checked, self.port), timeout=self.clock.left)
        self.clock.holds(line.dup())
        return line


class _Secure(HTTPSConnection):
    checked: str
    clock: Clock
    _new_conn = _Plain._new_conn


def send(
    place: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    clock: Clock,
    limit: int,
) -> Answer:
    """The answer's beginning; its body is read by whoever asked."""
    connection = _connected(place, clock)
    try:
        connection.request(
            method, place.path, body=body, headers={"user-agent": _AGENT, **headers}, preload_content=False
        )
        return Answer(connection, connection.getresponse(), place, clock=clock, limit=limit)
    except (HTTPError, HTTPException, OSError, ValueError) as error:
        connection.close()
        raise broken(place, clock, error) from None


def _connected(place: Target, clock: Clock) -> HTTPConnection:
    """Tries the checked addresses in turn, as the resolver ordered them."""
    last: Exception = OSError()
    for checked in dialled(place):
        connection = _connection(place, clock)
        connection.checked, connection.clock = checked, clock
        try:
            connection.connect()
            return connection
        except (HTTPError, OSError, ValueError) as error:
            connection.close()
            last = error
    raise broken(place, clock, last) from None


def _connection(place: Target, clock: Clock) -> _Plain | _Secure:
    if place.scheme == "http":
        return _Plain(place.host, place.port, timeout=clock.left)
    return _Secure(place.host, place.port, timeout=clock.left, ssl_context=_trusting())


def _trusting() -> ssl.SSLContext:
    """The system's authorities, and the site's own where it names some."""
    context = ssl.create_default_context()
    if settings.SKILLQUAY_OUTBOUND_CA:
        context.load_verify_locations(settings.SKILLQUAY_OUTBOUND_CA)
    return context
