"""Uvicorn's HTTP protocol with a time limit for the head of each request."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0  # for the first line and the headers of a request


class RequestTimeoutProtocol(H11Protocol):
    """Closes connections that send no complete request head within ``HEAD_S``.

    Without the limit, idle connections could use up every file descriptor of the process.
    """

    head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._cancel_timer()

    def on_response_complete(self) -> None:
        self._start_timer()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

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
