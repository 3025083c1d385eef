"""``/live/events/``: tells an open page by server-sent events that something it may show has changed.

The events carry no content: the page requests itself again, with the permissions of its reader.
"""

import asyncio
import json
import time
from urllib.parse import parse_qs

from portal.errors import LIVE_PAGES_TOO_MANY
from portal.streaming import inner_request
from portal.streaming.changes.feed import ChangeFeed, OpenPage
from portal.streaming.changes.rows import Viewer
from portal.streaming.events import (
    EVENT_STREAM_HEAD,
    KEEP_ALIVE_S,
    MAX_STREAM_S,
    RECHECK_PERMISSION_S,
    run_until_disconnect,
    send_chunk,
)
from portal.streaming.refusals import refusal_response

PATH = "/live/events/"
_RETRY_AFTER_S = 30
_END = b"event: end\ndata: {}\n\n"  # the page does not connect again
_MAX_AGE_MS = 10**9


class ChangesMiddleware:
    """Streams changes to signed-in users. Django checks the session before the stream and every
    ``RECHECK_PERMISSION_S`` seconds.
    """

    def __init__(self, app: inner_request.App, feed: ChangeFeed | None = None) -> None:
        self.app = app
        self.feed = feed or ChangeFeed()
        self.slot = asyncio.Semaphore(1)  # web threads that checks use together

    async def __call__(
        self, scope: inner_request.Scope, receive: inner_request.Receive, send: inner_request.Send
    ) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != PATH:
            return await self.app(scope, receive, send)
        answer = await self._check(scope)
        viewer = _viewer(answer)
        if viewer is None:
            return await answer.relay(send)
        if not self.feed.has_room(viewer):
            refused = LIVE_PAGES_TOO_MANY.refusal(retry_after_s=_RETRY_AFTER_S)
            return await refusal_response(scope, refused).relay(send)
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM_HEAD})
        return await run_until_disconnect(self._follow(scope, viewer, send), receive)

    async def _check(self, scope: inner_request.Scope) -> inner_request.AppResponse:
        # Uncompressed, because the response is parsed.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        async with self.slot:
            return await inner_request.get(self.app, {**scope, "headers": headers}, PATH)

    async def _follow(self, scope: inner_request.Scope, viewer: Viewer, send: inner_request.Send) -> None:
        with self.feed.follow(viewer, _age_s(scope)) as page:
            started = checked = time.monotonic()
            await send_chunk(b": open\n\n", send)
            while time.monotonic() - started < MAX_STREAM_S:
                kinds = await page.wait(KEEP_ALIVE_S)
                if time.monotonic() - checked > RECHECK_PERMISSION_S:
                    if not await self._is_still_signed_in(scope, page):
                        return await send_chunk(_END, send, more=False)
                    checked = time.monotonic()
                text = f"event: change\ndata: {' '.join(kinds)}\n\n" if kinds else ": still here\n\n"
                await send_chunk(text.encode(), send)
        return await send_chunk(b"", send, more=False)

    async def _is_still_signed_in(self, scope: inner_request.Scope, page: OpenPage) -> bool:
        """Whether the session is still valid; updates the teams of the page's user."""
        viewer = _viewer(await self._check(scope))
        if viewer is None or viewer.user != page.viewer.user:
            return False
        page.viewer = viewer
        return True


def _viewer(answer: inner_request.AppResponse) -> Viewer | None:
    if answer.status != 200:
        return None
    found = json.loads(answer.body)
    return Viewer(found["user"], frozenset(found["teams"]), found["is_administrator"])


def _age_s(scope: inner_request.Scope) -> float:
    """The age of the page's content in seconds, from ``?age=`` in milliseconds; 0 if invalid."""
    text = parse_qs(scope["query_string"].decode()).get("age", [""])[0]
    return min(int(text), _MAX_AGE_MS) / 1000 if text.isascii() and text.isdigit() and len(text) < 12 else 0.0
