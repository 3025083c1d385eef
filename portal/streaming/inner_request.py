"""Sends requests of ASGI middleware to the wrapped app, with the client's headers."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
CLIENT = "skillquay.client"  # key of the server's own ``receive`` in the scope; it reports a disconnect

_BODY_HEADERS = {
    b"content-length",
    b"content-type",
    b"transfer-encoding",
    b"idempotency-key",
    b"if-none-match",
}


@dataclass
class AppResponse:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    async def relay(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


async def get(app: App, scope: Scope, path: str, query: bytes = b"") -> AppResponse:
    """The app's response to a GET with the client's headers, such as credentials and languages.

    Omits the headers about a body.
    """
    headers = [pair for pair in scope["headers"] if pair[0] not in _BODY_HEADERS]
    inner = {**scope, "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query}
    return await call_app(app, {**inner, "headers": headers}, replay(b""))


async def call_app(app: App, scope: Scope, receive: Receive) -> AppResponse:
    """The complete response of the app, collected in memory: only for small responses."""
    response = AppResponse(500, [], b"")

    async def collect(message: Message) -> None:
        if message["type"] == "http.response.start":
            response.status, response.headers = message["status"], list(message["headers"])
        else:
            response.body += message.get("body", b"")

    await app(scope, receive, collect)
    return response


def replay(body: bytes, then: Receive | None = None) -> Receive:
    """A ``receive`` that returns this body, and afterwards what ``then`` returns; without ``then``, the body
    each time.
    """
    is_sent = False

    async def receive() -> Message:
        nonlocal is_sent
        if is_sent and then:
            return await then()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def wait_for_disconnect(receive: Receive) -> None:
    """Returns when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)
