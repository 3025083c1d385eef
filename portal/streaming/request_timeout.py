"""Uvicorn's HTTP protocol with a time limit for the head of each request, and small buffers."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0  # for the first line and the headers of a request
HEAD_BYTES = 16_384
MIN_READ_BYTES = 4_096
MAX_READ_BYTES = 65_536


class RequestTimeoutProtocol(H11Protocol):
    """Closes connections that send no complete request head within ``HEAD_S``.

    Without the limit, idle connections could use up every file descriptor of the process.
    """

    head_due: asyncio.TimerHandle | None = None
    received = 0  # bytes of the current request

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = h11.Connection(h11.SERVER, HEAD_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_reads()
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        self._limit_reads()
        super().data_received(data)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._cancel_timer()

    def on_response_complete(self) -> None:
        self.received = 0
        self._start_timer()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _limit_reads(self) -> None:
        """Sizes the next read by the bytes received so far, so that many idle clients use little memory."""
        size = min(max(self.received // 4, MIN_READ_BYTES), MAX_READ_BYTES)
        self.transport.max_size = size  # type: ignore[attr-defined]

    def _start_timer(self) -> None:
        self._cancel_timer()
        self.head_due = self.loop.call_later(HEAD_S, self._close)

    def _cancel_timer(self) -> None:
        if self.head_due:
            self.head_due.cancel()
            self.head_due = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
