"""``/api/v1/runs/<uid>/events``: a run's log, progress, steps and status as server-sent events.

A page that follows looks at ``…/live/`` when it hears one: looks come as often as readers, and take turns.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable
from urllib.parse import parse_qs

from portal.lanes.inner import Answer, App, Receive, Scope, Send, ask, get, gone
from portal.lanes.watching import moved_within, told_after

KEEP_ALIVE_S = 15.0
ASKED_AGAIN_S = 30.0  # a follower whose right has ended is left after so long
LONGEST_S = 300.0  # then the client reconnects from where it was
STALLED_S = 60.0  # for a reader to take what it was sent
_AT_ONCE = 2  # of the web threads, for all who follow: who opens a page finds another one free
_EVENTS = re.compile(r"/api/v1/runs/([0-9a-z]{26})/events")
_LIVE = re.compile(r"/(?:runs|imports)/[0-9a-z]{26}/live/")
_HEAD = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"private, no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
_END = b"event: end\ndata: {}\n\n"


class EventLane:
    def __init__(self, app: App) -> None:
        self.app = app
        self.turn = asyncio.Semaphore(_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        found = _EVENTS.fullmatch(scope["path"])
        if found is None:
            return await self._page(scope, receive, send)
        permission = await self._ask(scope, found[1])
        if permission.status != 200:
            return await permission.relay(send)
        await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
        return await _until_gone(self._follow(scope, found[1], send), receive)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _LIVE.fullmatch(scope["path"]):
            return await self.app(scope, receive, send)
        async with self.turn:
            answer = await ask(self.app, scope, receive)
        return await answer.relay(send)

    async def _ask(self, scope: Scope, uid: str) -> Answer:
        async with self.turn:
            return await get(self.app, scope, f"/api/v1/runs/{uid}/log", b"limit=1")

    async def _follow(self, scope: Scope, uid: str, send: Send) -> None:
        """Tells what came since the client's position until the run has ended, or the right to hear of it."""
        begun = asked = time.monotonic()
        told, piece = await told_after(uid, _position(scope))
        while not told.ended and time.monotonic() - begun < LONGEST_S:
            await _send(piece, send)
            moved = told.more or await moved_within(uid, told.head, KEEP_ALIVE_S)
            if time.monotonic() - asked > ASKED_AGAIN_S:
                if (await self._ask(scope, uid)).status != 200:
                    return await _send(b"", send, more=False)
                asked = time.monotonic()
            if moved:
                told, piece = await told_after(uid, told.position)
            else:
                piece = b": still here\n\n"
        return await _send(piece + _END if told.ended else b"", send, more=False)


async def _until_gone(work: Awaitable[None], receive: Receive) -> None:
    following = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(gone(receive))
    try:
        await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
    finally:
        following.cancel()
        leaving.cancel()


async def _send(piece: bytes, send: Send, *, more: bool = True) -> None:
    if piece or not more:
        async with asyncio.timeout(STALLED_S):
            await send({"type": "http.response.body", "body": piece, "more_body": more})


def _position(scope: Scope) -> str:
    """Where the client was: the browser says ``Last-Event-ID`` when it reconnects, others ``?after=``."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    reconnected = next((value.decode("latin1") for name, value in headers if name == b"last-event-id"), "")
    return reconnected or parse_qs(scope["query_string"].decode()).get("after", [""])[0]
