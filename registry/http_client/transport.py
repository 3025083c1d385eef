"""An httpx transport that sends requests through ``fetch``, for libraries with their own httpx client."""

import logging

import anyio.to_thread
import httpx2

from registry.http_client.connection import Deadline
from registry.http_client.fetch import FetchResponse, fetch
from registry.packages.problems import Refusal

logging.getLogger("httpx2").setLevel(logging.WARNING)  # at INFO it logs every request
_REQUEST_HEADERS_REPLACED = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")
_RESPONSE_HEADERS_DROPPED = ("content-encoding", "content-length", "transfer-encoding", "connection")


class OutboundTransport(httpx2.AsyncBaseTransport):
    """Sends an httpx client's requests through ``fetch``, without following redirects.

    ``limit`` is the maximum response size in bytes, ``timeout`` the seconds for one exchange. A refused
    request raises TransportError, and ``refused`` is the refusal until the next request.
    """

    def __init__(self, *, limit: int, timeout: float) -> None:
        self.limit, self.timeout = limit, timeout
        self.refused: Refusal | None = None
        self._deadlines: list[Deadline] = []
        self._is_aborted = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _REQUEST_HEADERS_REPLACED
        }
        self.refused = None
        try:
            response = await anyio.to_thread.run_sync(
                self._fetch, request, headers, body, abandon_on_cancel=True
            )
        except Refusal as error:
            self.refused = error
            raise httpx2.TransportError(error.code) from None
        response_headers = {
            name: value for name, value in response.headers.items() if name not in _RESPONSE_HEADERS_DROPPED
        }
        return httpx2.Response(
            response.status, headers=response_headers, content=response.body, request=request
        )

    def client(self) -> httpx2.AsyncClient:
        """An httpx client that uses only this transport: no proxy, no netrc file, no redirects."""
        return httpx2.AsyncClient(transport=self, trust_env=False, follow_redirects=False)

    def abort(self) -> None:
        """Stops the current request and makes later ones time out at once. May be called from any thread."""
        self._is_aborted = True
        for deadline in tuple(self._deadlines):
            deadline.stop()

    def _fetch(self, request: httpx2.Request, headers: dict[str, str], body: bytes) -> FetchResponse:
        return fetch(
            str(request.url),
            method=request.method,
            headers=headers,
            body=body or None,
            limit=self.limit,
            timeout=self.timeout,
            follow=False,
            on_deadline=self._track,
        )

    def _track(self, deadline: Deadline) -> None:
        self._deadlines[:] = [deadline]  # one exchange at a time
        if self._is_aborted:
            deadline.stop()
