"""A web process refuses requests early if those that wait would take too long."""

from __future__ import annotations

import asyncio
import threading

import pytest

from portal.asgi import _refuse
from portal.streaming.bridge import WsgiBridge
from tests.event_loops import run_in_loop

pytestmark = pytest.mark.row("P9")


class Load:
    """Sends requests to a bridge with two threads whose requests take a second each, as it believes."""

    def __init__(self):
        self.gate = threading.Event()
        self.started = []
        self.bridge = WsgiBridge(self._answer, workers=2, max_queue_s=2, overloaded=_refuse)
        self.bridge.mean_s = 1.0

    def _answer(self, environ, start_response):
        self.started.append(environ["PATH_INFO"])
        self.gate.wait(10)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    async def request(self):
        """Status and headers of a response."""
        messages = []

        async def send(message):
            messages.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/skills",
            "query_string": b"",
            "headers": [],
        }
        scope |= {"http_version": "1.1", "scheme": "http", "server": ("a", 80), "client": ("127.0.0.1", 1)}
        await self.bridge(scope, receive, send)
        body = b"".join(one.get("body", b"") for one in messages[1:])
        return messages[0]["status"], dict(messages[0]["headers"]), body


@pytest.mark.django_db
def test_requests_beyond_two_seconds_of_work_are_refused_at_once_with_retry_after():
    load = Load()

    async def send_many():
        accepted = [asyncio.create_task(load.request()) for _ in range(7)]
        while load.bridge.calls < 7:
            await asyncio.sleep(0)
        refused = await asyncio.wait_for(load.request(), 5)
        load.gate.set()
        return refused, await asyncio.gather(*accepted)

    refused, accepted = run_in_loop(send_many())
    assert {status for status, _, _ in accepted} == {200}
    assert refused[0] == 503
    assert b'"OVERLOADED"' in refused[2]
    assert int(refused[1][b"retry-after"]) >= 1
    assert load.bridge.mean_s < 1.0, "the mean follows the duration of requests"


def test_short_requests_may_wait_in_large_numbers():
    load = Load()
    load.bridge.mean_s = 0.001
    load.bridge.calls = 1_000
    load.gate.set()
    assert run_in_loop(load.request())[0] == 200
