"""``?wait=30`` on runs and imports: the event loop waits until they end without occupying a web thread."""

import json
import re
from urllib.parse import parse_qsl, urlencode

from portal.streaming.inner_request import App, AppResponse, Receive, Scope, Send, call_app, get
from portal.streaming.watch import wait_for_end

MAX_WAIT_S = 60.0
_WAITING_APPROVAL = "waiting_approval"
WAIT_PATHS = re.compile(r"/api/v1/(?:sources/[0-9a-z]{26}/)?(runs|imports)(?:/[0-9a-z]{26}(?:/rerun)?)?")


class WaitMiddleware:
    """Delays the response until the run or import ends, its approval is decided, or ``wait`` seconds pass.

    Requests the run or import again after its end; otherwise the response is the first one.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = WAIT_PATHS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if match is None:
            return await self.app(scope, receive, send)
        query, wait_s = split_wait(scope["query_string"])
        if wait_s is None:
            return await self.app(scope, receive, send)
        # Uncompressed, because the response is parsed below.
        readable = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        first = await call_app(self.app, {**scope, "headers": readable, "query_string": query}, receive)
        uid, kind = unfinished_id(first), match[1]
        if uid and await wait_for_end(wait_kind(first, kind), uid, wait_s):
            query = query if scope["method"] == "GET" else b""
            last = await get(self.app, scope, f"/api/v1/{kind}/{uid}", query)
            return await AppResponse(last.status, _merge_headers(first, last), last.body).relay(send)
        return await first.relay(send)


def split_wait(query_string: bytes) -> tuple[bytes, float | None]:
    """The query without ``wait``, and its seconds, at most ``MAX_WAIT_S``.

    Returns the unchanged query and None if ``wait`` is absent or invalid.
    """
    pairs = parse_qsl(query_string.decode(), keep_blank_values=True)
    waits = [value for key, value in pairs if key == "wait"]
    if len(waits) != 1 or not re.fullmatch(r"\d{1,4}", waits[0]) or waits[0].strip("0") == "":
        return query_string, None
    rest = urlencode([pair for pair in pairs if pair[0] != "wait"])
    return rest.encode(), min(float(waits[0]), MAX_WAIT_S)


def unfinished_id(response: AppResponse) -> str | None:
    """The id of the run or import in the response; None if it has ended or the request failed."""
    if response.status not in (200, 201, 202):
        return None
    document = json.loads(response.body)
    is_unfinished = isinstance(document, dict) and document.get("status") in (
        "queued",
        "running",
        _WAITING_APPROVAL,
    )
    return document["id"] if is_unfinished else None


def wait_kind(response: AppResponse, kind: str) -> str:
    """The kind of rows to watch: ``approvals`` if the run in the response waits for approval, otherwise
    ``kind``.

    So the decision about an approval ends the wait.
    """
    return "approvals" if json.loads(response.body).get("status") == _WAITING_APPROVAL else kind


def _merge_headers(first: AppResponse, last: AppResponse) -> list[tuple[bytes, bytes]]:
    """The headers of ``last``, and those of ``first`` about the location and rate limits."""
    return last.headers + [pair for pair in first.headers if pair[0].startswith((b"location", b"ratelimit-"))]
