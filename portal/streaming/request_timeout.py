"""Uvicorn's HTTP protocols with a time limit for the head of each request, and small buffers.

Where httptools is installed, ``RequestTimeoutProtocol`` uses this parser, because it needs half the CPU time
of h11.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # httptools has no build for this platform
    HttpToolsProtocol = None  # type: ignore[assignment, misc]

HEAD_S = 20.0  # limit for the first line and the headers of a request
HEAD_BYTES = 16_384
MIN_READ_BYTES = 4_096
MAX_READ_BYTES = 65_536
_CHUNK_OVERHEAD = 8  # maximum number of framing bytes per byte of a chunked body


class _HeadTimer:
    """Closes the connection ``HEAD_S`` after ``start``, unless ``cancel`` is called before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self.loop, self.transport = loop, transport
        self.due: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.cancel()
        self.due = self.loop.call_later(HEAD_S, self._close)

    def cancel(self) -> None:
        if self.due:
            self.due.cancel()
            self.due = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def _limit_reads(transport: Any, received: int) -> None:
    """Sizes the next read by the bytes received so far, so that many idle clients use little memory.

    Does nothing with uvloop, which shares one buffer between all connections.
    """
    if hasattr(transport, "max_size"):
        transport.max_size = min(max(received // 4, MIN_READ_BYTES), MAX_READ_BYTES)


class H11TimeoutProtocol(H11Protocol):
    """Closes connections that send no complete request head within ``HEAD_S``.

    Without the limit, idle connections could use up every file descriptor of the process.
    """

    received = 0  # bytes of the current request

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = h11.Connection(h11.SERVER, HEAD_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _limit_reads(transport, 0)
        self.timer = _HeadTimer(self.loop, transport)
        self.timer.start()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        _limit_reads(self.transport, self.received)
        super().data_received(data)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self.timer.cancel()

    def on_response_complete(self) -> None:
        self.received = 0
        self.timer.start()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self.timer.cancel()
        super().connection_lost(exc)


RequestTimeoutProtocol: type[asyncio.Protocol] = H11TimeoutProtocol

if HttpToolsProtocol is not None:

    class HttpToolsTimeoutProtocol(HttpToolsProtocol):
        """Applies the limits of ``H11TimeoutProtocol`` to httptools, which limits neither heads nor
        trailers.
        """

        received = 0  # bytes of the current request; ``body`` counts those of its body
        body = 0
        in_head = True

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            # ``BodyMiddleware`` refuses requests with two lengths, with a code
            self.parser.set_dangerous_leniencies(lenient_chunked_length=True)

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            _limit_reads(transport, 0)
            self.timer = _HeadTimer(self.loop, transport)
            self.timer.start()

        def data_received(self, data: bytes) -> None:
            self.received += len(data)
            _limit_reads(self.transport, self.received)
            super().data_received(data)
            head_limit = HEAD_BYTES if self.in_head else 2 * HEAD_BYTES
            if self.received > head_limit + _CHUNK_OVERHEAD * self.body and not self.transport.is_closing():
                self.send_400_response("Request header or trailer too large.")
            if not self.timer.due and (self.cycle is None or self.cycle.response_complete):
                self.timer.start()  # the data is a part of a head, or nothing that a request consists of

        def on_message_begin(self) -> None:
            self.in_head, self.received, self.body = True, 0, 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > HEAD_BYTES:
                raise ValueError("Request header too large.")  # the parser turns it into a 400 response
            self.in_head = False
            self.timer.cancel()
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self.body += len(body)
            super().on_body(body)

        def on_response_complete(self) -> None:
            if self.in_head:  # of the next request; without one, uvicorn limits the time until it comes
                self.timer.start()
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.cancel()
            super().connection_lost(exc)

    RequestTimeoutProtocol = HttpToolsTimeoutProtocol
