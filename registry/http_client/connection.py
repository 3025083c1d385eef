"""Sends a request over a new connection to a checked address, within a deadline."""

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

from registry.http_client.addresses import Target, resolve_target
from registry.http_client.errors import OUTBOUND_TIMEOUT
from registry.http_client.response import FetchStream, network_refusal
from registry.packages.problems import Refusal

_USER_AGENT = "skillquay"


class Deadline:
    """Context manager for the time limit of an exchange. A timer shuts the watched socket down at the
    deadline, even in the middle of a response.
    """

    def __init__(self, host: str, seconds: float) -> None:
        self.host, self.seconds = host, seconds
        self.expires_at = time.monotonic() + seconds
        self.sock: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self.watch_socket(None)

    @property
    def remaining(self) -> float:
        seconds = self.expires_at - time.monotonic()
        if seconds <= 0:
            raise self.refusal()
        return seconds

    @property
    def is_expired(self) -> bool:
        return time.monotonic() >= self.expires_at

    def watch_socket(self, sock: socket.socket | None) -> None:
        """Sets the socket to shut down at the deadline, or None for no socket, and closes the previous one.
        Pass a duplicate, because TLS detaches the original socket.
        """
        previous, self.sock = self.sock, sock
        if previous:
            previous.close()

    def refusal(self) -> Refusal:
        return OUTBOUND_TIMEOUT.refusal(host=self.host, seconds=f"{self.seconds:g}").at(self.host)

    def stop(self) -> None:
        """Ends the exchange as if its deadline had expired; may be called from another thread."""
        self.expires_at = time.monotonic()
        self._shut_down()

    def _shut_down(self) -> None:
        if sock := self.sock:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class _PinnedHTTPConnection(HTTPConnection):
    """Connects to ``pinned_address``, which was checked; the Host header and TLS use the host name."""

    pinned_address: str
    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        sock = socket.create_connection((self.pinned_address, self.port), timeout=self.deadline.remaining)
        self.deadline.watch_socket(sock.dup())
        return sock


class _PinnedHTTPSConnection(HTTPSConnection):
    pinned_address: str
    deadline: Deadline
    _new_conn = _PinnedHTTPConnection._new_conn


def send(
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    deadline: Deadline,
    limit: int,
) -> FetchStream:
    """Sends a request and returns the response once its headers have arrived. The caller reads and closes it.
    Network errors raise OUTBOUND_… refusals.
    """
    connection = _connect(target, deadline)
    try:
        connection.request(
            method,
            target.path,
            body=body,
            headers={"user-agent": _USER_AGENT, **headers},
            preload_content=False,
        )
        return FetchStream(connection, connection.getresponse(), target, deadline=deadline, limit=limit)
    except (HTTPError, HTTPException, OSError, ValueError) as error:
        connection.close()
        raise network_refusal(target, deadline, error) from None


def _connect(target: Target, deadline: Deadline) -> HTTPConnection:
    """Connects to the first allowed address that is reachable, in the resolver's order. If none is, raises
    the refusal for the last error.
    """
    last: Exception = OSError()
    for address in resolve_target(target):
        connection = _new_connection(target, deadline)
        connection.pinned_address, connection.deadline = address, deadline
        try:
            connection.connect()
            return connection
        except (HTTPError, OSError, ValueError) as error:
            connection.close()
            last = error
    raise network_refusal(target, deadline, last) from None


def _new_connection(target: Target, deadline: Deadline) -> _PinnedHTTPConnection | _PinnedHTTPSConnection:
    if target.scheme == "http":
        return _PinnedHTTPConnection(target.host, target.port, timeout=deadline.remaining)
    return _PinnedHTTPSConnection(
        target.host, target.port, timeout=deadline.remaining, ssl_context=_ssl_context()
    )


def _ssl_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    if settings.SKILLQUAY_OUTBOUND_CA:
        context.load_verify_locations(settings.SKILLQUAY_OUTBOUND_CA)
    return context
