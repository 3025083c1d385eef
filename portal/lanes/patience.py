"""The server's HTTP protocol with an end to its patience: who never finishes asking is left."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0  # for the first line and the headers of a request


class PatientProtocol(H11Protocol):
    """Without this, connections that say nothing would take every descriptor of the process."""

    head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_a_head()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._expect_nothing()

    def on_response_complete(self) -> None:
        self._expect_a_head()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect_a_head(self) -> None:
        self._expect_nothing()
        self.head_due = self.loop.call_later(HEAD_S, self._leave)

    def _expect_nothing(self) -> None:
        if self.head_due:
            self.head_due.cancel()
            self.head_due = None

    def _leave(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
