"""``/api/v1/runs/<uid>/events``: a run's log, progress, steps and status as server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Mapping
from typing import Any
from urllib.parse import parse_qs

from portal.lanes.inner import App, Receive, Scope, Send, get, gone
from portal.lanes.watching import events_after

PAUSE_S = 0.25
KEEP_ALIVE_S = 15.0
LONGEST_S = 300.0  # then the client reconnects from where it was, and is asked again who it is
_EVENTS = re.compile(r"/api/v1/runs/([0-9a-z]{26})/events")
_HEAD = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"private, no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]


class EventLane:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _EVENTS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if not found or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        permission = await get(self.app, scope, f"/api/v1/runs/{found[1]}/log", b"limit=1")
        if permission.status != 200:
            return await permission.relay(send)
        await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
        return await _until_gone(_follow(found[1], _position(scope), send), receive)


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


async def _follow(uid: str, position: str, send: Send) -> None:
    """Sends what came since ``position`` until the run has ended."""
    spoken = started = time.monotonic()
    ended = False
    while not ended and time.monotonic() - started < LONGEST_S:
        events, position, ended = await events_after(uid, position)
        if events:
            # Only the last one carries the position: who is cut off inside a batch gets it again, not less.
            await send(_piece("".join(map(_event, events))[:-1] + f"id: {position}\n\n"))
            spoken = time.monotonic()
        elif time.monotonic() - spoken > KEEP_ALIVE_S:
            await send(_piece(": still here\n\n"))
            spoken = time.monotonic()
        if not ended:
            await asyncio.sleep(PAUSE_S)
    await send({"type": "http.response.body", "body": b"event: end\ndata: {}\n\n" if ended else b""})


def _event(event: Mapping[str, Any]) -> str:
    text = json.dumps(event["data"], ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['event']}\ndata: {text}\n\n"


def _piece(text: str) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


def _position(scope: Scope) -> str:
    """Where the client was: the browser says ``Last-Event-ID`` when it reconnects, others ``?after=``."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    reconnected = next((value.decode("latin1") for name, value in headers if name == b"last-event-id"), "")
    return reconnected or parse_qs(scope["query_string"].decode()).get("after", [""])[0]
