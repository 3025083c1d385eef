"""The door out for libraries that bring an HTTP client of their own: their requests become ours."""

from __future__ import annotations

import logging

import anyio.to_thread
import httpx2

from registry.outbound import Fetched, fetch
from registry.outbound.dialling import Clock
from registry.packages.problems import Refused

logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would write a line for each request
_OURS = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")
_DECODED = ("content-encoding", "content-length", "transfer-encoding", "connection")


class OutboundTransport(httpx2.AsyncBaseTransport):
    """Answers a client's requests through ``fetch``; ``refused`` is why the last one could not be answered.

    ``limit`` is an answer's most bytes, ``timeout`` the seconds of one exchange; no redirect is followed.
    """

    def __init__(self, *, limit: int, timeout: float) -> None:
        self.limit, self.timeout = limit, timeout
        self.refused: Refused | None = None
        self._clocks: list[Clock] = []
        self._is_cut = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
        self.refused = None
        try:
            found = await anyio.to_thread.run_sync(
                self._fetch, request, headers, body, abandon_on_cancel=True
            )
        except Refused as no:
            self.refused = no
            raise httpx2.TransportError(no.code) from None
        kept = {name: value for name, value in found.headers.items() if name not in _DECODED}
        return httpx2.Response(found.status, headers=kept, content=found.body, request=request)

    def client(self) -> httpx2.AsyncClient:
        """A client that has no other way out: no proxy, no netrc, no redirect."""
        return httpx2.AsyncClient(transport=self, trust_env=False, follow_redirects=False)

    def cut(self) -> None:
        """Ends what is on the line, and whatever begins after it, from any thread."""
        self._is_cut = True
        for clock in tuple(self._clocks):
            clock.stop()

    def _fetch(self, request: httpx2.Request, headers: dict[str, str], body: bytes) -> Fetched:
        return fetch(
            str(request.url),
            method=request.method,
            headers=headers,
            body=body or None,
            limit=self.limit,
            timeout=self.timeout,
            follow=False,
            on_clock=self._watch,
        )

    def _watch(self, clock: Clock) -> None:
        self._clocks[:] = [clock]  # one exchange at a time
        if self._is_cut:
            clock.stop()
