"""``POST /mcp`` waits for runs in the event loop, and streams their progress to clients that read it."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from portal.streaming import mcp
from portal.streaming.inner_request import AppResponse, replay
from portal.streaming.watch import RowWatcher
from tests.event_loops import run_in_loop
from worker.facades.mcp.waits import WAIT_HEADER, RunWait
from worker.run_views.events import EventBatch, Head

pytestmark = pytest.mark.row("P7", "P9")
UID = "01kajq3s5d8m6v9x2c4b7n1p20"
RUNNING, ENDED = Head(1, "running", 50, 9), Head(1, "succeeded", 100, 9)


def exchange(wait, monkeypatch, batches=()):
    """What the client gets, and the body of the second request, if there was one."""
    asked, sent, waits = [], [], iter(batches)

    async def app(scope, receive, send):
        asked.append((await receive())["body"])
        headers = [(WAIT_HEADER.lower().encode(), wait.header().encode())] if len(asked) == 1 else []
        await AppResponse(200, headers, b'{"first":1}' if len(asked) == 1 else b'{"last":1}').relay(send)

    async def send(message):
        sent.append(message)

    async def never():
        return await asyncio.Event().wait()

    async def events_since(uid, position):
        return next(waits), b""

    async def changed(*_):
        return True

    monkeypatch.setattr(mcp, "events_since", events_since)
    monkeypatch.setattr(mcp, "wait_for_change", changed)
    monkeypatch.setattr(mcp, "wait_for_end", changed)
    receive = never if wait.progress_token is not None else replay(b"{}")
    first = iter([replay(b"{}")])

    async def receive_once():
        return await next(first, receive)()

    scope = {"type": "http", "path": "/mcp", "method": "POST", "headers": [(b"content-length", b"2")]}
    run_in_loop(mcp.McpMiddleware(app)(scope, receive_once, send))
    assert not any(WAIT_HEADER.lower().encode() in dict(message.get("headers", ())) for message in sent)
    return b"".join(message.get("body", b"") for message in sent), asked[1:]


def test_answer_waits_for_the_end_and_is_requested_again(monkeypatch):
    wait = RunWait(UID, False, 45, None, '{"again":1}')
    assert exchange(wait, monkeypatch) == (b'{"last":1}', [b'{"again":1}'])


def test_progress_rises_until_the_answer(monkeypatch):
    steps = [
        {"event": "progress", "data": {"percent": 50}, "id": ""},
        {"event": "log", "data": {"text": "secret"}, "id": ""},
        {"event": "step", "data": {"name": "execute"}, "id": ""},
    ]
    batches = [EventBatch(steps, "1", False, RUNNING), EventBatch(steps[:1], "2", True, ENDED)]
    text, asked = exchange(RunWait(UID, False, 45, "p", "{}"), monkeypatch, batches)
    events = [json.loads(line[6:]) for line in text.decode().splitlines() if line.startswith("data: ")]
    *notifications, last = events
    values = [event["params"]["progress"] for event in notifications]
    assert values == sorted(set(values)) == [50.0, 50.01, 50.02]
    assert {event["params"]["progressToken"] for event in notifications} == {"p"}
    assert b"secret" not in text
    assert (last, len(asked)) == ({"last": 1}, 1)


def test_stream_for_an_approval_ends_with_the_decision(monkeypatch):
    waiting = Head(0, "waiting_approval", None, 0)
    batches = [EventBatch([], "1", False, waiting), EventBatch([], "2", False, Head(0, "queued", None, 0))]
    text, _ = exchange(RunWait(UID, True, 45, 1, "{}"), monkeypatch, batches)
    assert text == b'event: message\ndata: {"last":1}\n\n'


def test_wait_that_starts_during_a_query_does_not_take_its_run_for_missing():
    started, release, seen = threading.Event(), threading.Event(), []

    def query(uids):
        started.set()
        release.wait(10)
        return dict.fromkeys(uids, ENDED)

    def is_reached(head):
        seen.append(head)
        return True

    async def work():
        watcher = RowWatcher(query, min_pause_s=0.001)
        first = asyncio.ensure_future(watcher.wait_until("a", is_reached, within_s=10))
        await asyncio.to_thread(started.wait, 10)
        second = asyncio.ensure_future(watcher.wait_until("b", is_reached, within_s=10))
        await asyncio.sleep(0)
        release.set()
        return await first, await second

    assert run_in_loop(work()) == (True, True)
    assert seen == [ENDED, ENDED]
