"""``/api/v1/runs/<uid>/events``: a run's log, progress, steps and status as server-sent events.

The page of a run requests ``…/live/`` after each event. Only ``_MAX_CONCURRENT`` of these requests use a web
thread at the same time.
"""

import asyncio
import re
import time
from collections.abc import Awaitable
from urllib.parse import parse_qs

from portal.streaming import inner_request
from portal.streaming.watch import events_since, wait_for_change

KEEP_ALIVE_S = 15.0
RECHECK_PERMISSION_S = 30.0  # a client that lost its permission is disconnected after this time
MAX_STREAM_S = 300.0  # after this time, the client reconnects from its last position
STALL_TIMEOUT_S = 60.0  # limit for a client to read the sent data
_MAX_CONCURRENT = 2  # web threads used by all followers together, so that other pages find a free one
_EVENTS = re.compile(r"/api/v1/runs/([0-9a-z]{26})/events")
_LIVE = re.compile(r"/(?:(?:runs|imports)/[0-9a-z]{26}/)?live/")
EVENT_STREAM_HEAD = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"private, no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
_END = b"event: end\ndata: {}\n\n"


class EventMiddleware:
    """Streams a run's events, and limits concurrent ``…/live/`` requests.

    Django checks the permission before the stream and every ``RECHECK_PERMISSION_S`` seconds.
    """

    def __init__(self, app: inner_request.App) -> None:
        self.app = app
        self.slots = asyncio.Semaphore(_MAX_CONCURRENT)

    async def __call__(
        self, scope: inner_request.Scope, receive: inner_request.Receive, send: inner_request.Send
    ) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        match = _EVENTS.fullmatch(scope["path"])
        if match is None:
            return await self._respond(scope, receive, send)
        permission = await self._check_permission(scope, match[1])
        if permission.status != 200:
            return await permission.relay(send)
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM_HEAD})
        return await run_until_disconnect(self._follow(scope, match[1], send), receive)

    async def _respond(
        self, scope: inner_request.Scope, receive: inner_request.Receive, send: inner_request.Send
    ) -> None:
        if not _LIVE.fullmatch(scope["path"]):
            return await self.app(scope, receive, send)
        async with self.slots:
            answer = await inner_request.call_app(self.app, scope, receive)
        return await answer.relay(send)

    async def _check_permission(self, scope: inner_request.Scope, uid: str) -> inner_request.AppResponse:
        async with self.slots:
            return await inner_request.get(self.app, scope, f"/api/v1/runs/{uid}/log", b"limit=1")

    async def _follow(self, scope: inner_request.Scope, uid: str, send: inner_request.Send) -> None:
        """Sends the events after the client's position.

        Stops when the run ends, when the client loses its permission, or after ``MAX_STREAM_S`` seconds.
        """
        started = checked = time.monotonic()
        batch, chunk = await events_since(uid, _position(scope))
        while not batch.ended and time.monotonic() - started < MAX_STREAM_S:
            await send_chunk(chunk, send)
            changed = batch.more or await wait_for_change(uid, batch.head, KEEP_ALIVE_S)
            if time.monotonic() - checked > RECHECK_PERMISSION_S:
                if (await self._check_permission(scope, uid)).status != 200:
                    return await send_chunk(b"", send, more=False)
                checked = time.monotonic()
            if changed:
                batch, chunk = await events_since(uid, batch.position)
            else:
                chunk = b": still here\n\n"
        return await send_chunk(chunk + _END if batch.ended else b"", send, more=False)


async def run_until_disconnect(work: Awaitable[None], receive: inner_request.Receive) -> None:
    """Runs the coroutine until it ends or the client disconnects, which cancels it. Raises the coroutine's
    exception.
    """
    following = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(inner_request.wait_for_disconnect(receive))
    try:
        await asyncio.wait({following, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
    finally:
        following.cancel()
        disconnect.cancel()


async def send_chunk(chunk: bytes, send: inner_request.Send, *, more: bool = True) -> None:
    """Sends a piece of the body. Raises TimeoutError if the client does not read it."""
    if chunk or not more:
        async with asyncio.timeout(STALL_TIMEOUT_S):
            await send({"type": "http.response.body", "body": chunk, "more_body": more})


def _position(scope: inner_request.Scope) -> str:
    """The client's last position, from ``Last-Event-ID`` (a reconnect) or ``?after=``; "" if there is
    neither.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    reconnected = next((value.decode("latin1") for name, value in headers if name == b"last-event-id"), "")
    return reconnected or parse_qs(scope["query_string"].decode()).get("after", [""])[0]
