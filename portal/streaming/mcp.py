"""``POST /mcp``: the event loop waits for runs without occupying a web thread, and streams their progress.

Django answers at once. If the client waits for a run, the response has the header WAIT_HEADER.
"""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from portal.streaming.events import EVENT_STREAM_HEAD, KEEP_ALIVE_S, run_until_disconnect, send_chunk
from portal.streaming.inner_request import App, AppResponse, Receive, Scope, Send, call_app, replay
from portal.streaming.watch import events_since, wait_for_change, wait_for_end
from worker.facades.mcp.waits import WAIT_HEADER, RunWait

PATH = "/mcp"
_WAIT_HEADER = WAIT_HEADER.lower().encode()
_BODY_HEADERS = (b"content-length", b"mcp-name")
_MIN_STEP = 0.01  # increment, because progress must rise with each notification
_MESSAGE_FIELD = {"status": "status", "step": "name"}  # kinds of events whose text a notification shows


class McpMiddleware:
    """Delays the answer until the run ends, its approval is decided, or the wait is over. Then requests the
    run again, so that Django checks the client's access.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        first = await call_app(self.app, scope, receive)
        wait = _take_wait(first)
        if wait is None:
            return await first.relay(send)
        if wait.progress_token is not None:
            await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM_HEAD})
            return await run_until_disconnect(self._stream(scope, wait, send), receive)
        await wait_for_end("approvals" if wait.for_approval else "runs", wait.run, wait.seconds)
        return await (await self._request_run(scope, wait)).relay(send)

    async def _request_run(self, scope: Scope, wait: RunWait, *omitted: bytes) -> AppResponse:
        body = wait.body.encode()
        headers = [pair for pair in scope["headers"] if pair[0] not in (*_BODY_HEADERS, *omitted)]
        headers += [(b"content-length", str(len(body)).encode()), (b"mcp-name", b"run_status")]
        return await call_app(self.app, {**scope, "headers": headers}, replay(body))

    async def _stream(self, scope: Scope, wait: RunWait, send: Send) -> None:
        """Sends progress notifications while the run changes, then the answer."""
        ends_at, progress = time.monotonic() + wait.seconds, _Progress(wait.progress_token)
        batch, _ = await events_since(wait.run, "")
        while True:
            await send_chunk(progress.notifications(batch.events), send)
            is_decided = wait.for_approval and not (batch.head and batch.head.needs_approval)
            left_s = ends_at - time.monotonic()
            if batch.ended or is_decided or left_s <= 0:
                break
            if not batch.more and not await wait_for_change(wait.run, batch.head, min(left_s, KEEP_ALIVE_S)):
                await send_chunk(b": still here\n\n", send)
            batch, _ = await events_since(wait.run, batch.position)
        answer = await self._request_run(scope, wait, b"accept-encoding")
        await send_chunk(_event(answer.body), send, more=False)


class _Progress:
    """The progress of a run as notifications. Omits log lines, which may be long and hard to read."""

    def __init__(self, token: str | int | None) -> None:
        self.token = token
        self.value = 0.0

    def notifications(self, events: Iterable[Mapping[str, Any]]) -> bytes:
        """The notifications for the events, as server-sent events."""
        return b"".join(self._notification(event) for event in events if event["event"] != "log")

    def _notification(self, event: Mapping[str, Any]) -> bytes:
        data = event["data"]
        percent = float(data.get("percent") or 0) if event["event"] == "progress" else 0.0
        self.value = round(max(self.value + _MIN_STEP, percent), 2)
        params: dict[str, Any] = {"progressToken": self.token, "progress": self.value, "total": 100}
        if text := data.get(_MESSAGE_FIELD.get(event["event"], "")):
            params["message"] = str(text)
        message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        return _event(json.dumps(message).encode())


def _event(message: bytes) -> bytes:
    return b"event: message\ndata: " + message + b"\n\n"


def _take_wait(response: AppResponse) -> RunWait | None:
    """Removes the wait from the response's headers and returns it; None if there is none."""
    found = next((value for name, value in response.headers if name.lower() == _WAIT_HEADER), None)
    if found is None:
        return None
    response.headers = [pair for pair in response.headers if pair[0].lower() != _WAIT_HEADER]
    return RunWait(**json.loads(found))
