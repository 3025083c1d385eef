"""``?wait=30`` on runs and imports: Django answers at once, this lane waits for the end and asks again."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, urlencode

from portal.lanes.inner import Answer, App, Receive, Scope, Send, ask, get
from portal.lanes.watching import ended_within

LONGEST_WAIT_S = 60.0
_ASKED = "waiting_approval"
_WAITED = re.compile(r"/api/v1/(?:sources/[0-9a-z]{26}/)?(runs|imports)(?:/[0-9a-z]{26})?")


class WaitLane:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        waited = _WAITED.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if waited is None:
            return await self.app(scope, receive, send)
        query, wait_s = _without_wait(scope["query_string"])
        if wait_s is None:
            return await self.app(scope, receive, send)
        first = await ask(self.app, {**scope, "query_string": query}, receive)
        uid, kind = _under_way(first), waited[1]
        if uid and await ended_within(_awaited(first, kind), uid, wait_s):
            query = query if scope["method"] == "GET" else b""
            last = await get(self.app, scope, f"/api/v1/{kind}/{uid}", query)
            return await Answer(last.status, _with_location(first, last), last.body).relay(send)
        return await first.relay(send)


def _without_wait(query_string: bytes) -> tuple[bytes, float | None]:
    """The query without ``wait``, and its seconds; None where absent or no number (Django refuses)."""
    pairs = parse_qsl(query_string.decode(), keep_blank_values=True)
    waits = [value for key, value in pairs if key == "wait"]
    if len(waits) != 1 or not re.fullmatch(r"\d{1,4}", waits[0]) or waits[0].strip("0") == "":
        return query_string, None
    rest = urlencode([pair for pair in pairs if pair[0] != "wait"])
    return rest.encode(), min(float(waits[0]), LONGEST_WAIT_S)


def _under_way(answer: Answer) -> str | None:
    if answer.status not in (200, 201, 202):
        return None
    document = json.loads(answer.body)
    under_way = isinstance(document, dict) and document.get("status") in ("queued", "running", _ASKED)
    return document["id"] if under_way else None


def _awaited(answer: Answer, kind: str) -> str:
    """A run that somebody has to let is told as soon as they have, or have not."""
    return "approvals" if json.loads(answer.body).get("status") == _ASKED else kind


def _with_location(first: Answer, last: Answer) -> list[tuple[bytes, bytes]]:
    return last.headers + [pair for pair in first.headers if pair[0] == b"location"]
