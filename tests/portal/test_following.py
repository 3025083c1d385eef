"""Those who follow a run: one look for all, nothing twice wherever they are cut off, as long as they may."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.db import OperationalError

from portal.streaming import events
from portal.streaming import watch as watching
from portal.streaming.bridge import WsgiBridge
from tests.checks import not_none
from tests.event_loops import run_in_loop
from tests.portal.test_lanes import UID
from worker.run_views.events import EventBatch, Head

pytestmark = pytest.mark.row("P5", "P9")


# One look for all who wait ---------------------------------------------------------------------------------
def test_many_who_wait_for_many_cost_one_look(monkeypatch):
    asked = []

    def question(uids):
        asked.append(set(uids))
        return {uid: len(asked) for uid in uids}

    async def wait():
        watch = watching.RowWatcher(question, min_pause_s=0.001)
        third = [watch.wait_until(f"run {n % 20}", lambda look: look == 3, within_s=20) for n in range(200)]
        assert all(await asyncio.gather(*third))
        return watch.waiting

    assert run_in_loop(wait()) == {}
    assert asked == [{f"run {n}" for n in range(20)}] * 3


async def _no_body():
    return {"type": "http.request"}


def test_nobody_looks_when_nobody_waits():
    asked = []

    async def wait():
        watch = watching.RowWatcher(lambda uids: asked.append(uids) or {}, min_pause_s=0.001)
        assert not await watch.wait_until("run", lambda row: False, within_s=0.02)
        await not_none(watch.task)
        looks = len(asked)
        await asyncio.sleep(0.02)
        return looks

    assert run_in_loop(wait()) == len(asked) > 0


def test_who_waits_is_told_when_the_database_cannot_be_asked():
    def question(uids):
        raise OperationalError("away")

    async def wait():
        await watching.RowWatcher(question, min_pause_s=0.001).wait_until("run", bool, within_s=20)

    with pytest.raises(OperationalError):
        run_in_loop(wait())


def test_a_connection_that_died_is_replaced_once():
    answers = iter([OperationalError("server closed"), {"run": 1}])

    def question(uids):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def wait():
        return await watching.RowWatcher(question, min_pause_s=0.001).wait_until(
            "run", lambda row: row == 1, within_s=20
        )

    assert run_in_loop(wait())


# As long as they may ---------------------------------------------------------------------------------------
def followed(monkeypatch, permissions, *, told):
    """What a follower was sent, where Django answers with ``permissions`` one after the other."""
    asked, sent = [], []

    async def app(scope, receive, send):
        asked.append(scope["path"])
        status = permissions[min(len(asked), len(permissions)) - 1]
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def told_after(uid, position):
        return next(told), b"id: 1\nevent: log\ndata: {}\n\n"

    async def moved_within(uid, head, wait_s):
        return True

    async def send(message):
        sent.append(message)

    async def stay():
        await asyncio.sleep(3600)

    monkeypatch.setattr(events, "events_since", told_after)
    monkeypatch.setattr(events, "wait_for_change", moved_within)
    scope = {"type": "http", "method": "GET", "path": f"/api/v1/runs/{UID}/events", "headers": []}
    run_in_loop(events.EventMiddleware(app)({**scope, "query_string": b""}, stay, send))
    return asked, sent


def _going_on():
    head = Head(attempt=1, status="running", progress=None, log_bytes=1)
    while True:
        yield EventBatch([], "1", ended=False, head=head)


@pytest.mark.row("P2", "P5")
@pytest.mark.parametrize("refusal", [401, 403, 404, 410])
def test_a_follower_whose_right_has_ended_hears_no_more(monkeypatch, refusal):
    monkeypatch.setattr(events, "RECHECK_PERMISSION_S", 0.0)
    asked, sent = followed(monkeypatch, [200, 200, refusal], told=_going_on())
    assert asked == [f"/api/v1/runs/{UID}/log"] * 3
    assert [message["type"] for message in sent] == ["http.response.start"] + ["http.response.body"] * 3
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert b"event: end" not in b"".join(message.get("body", b"") for message in sent)


def test_a_follower_is_not_asked_again_each_time(monkeypatch):
    told = iter([EventBatch([], "1", ended=False)] * 5 + [EventBatch([], "2", ended=True)])
    asked, sent = followed(monkeypatch, [200], told=told)
    assert len(asked) == 1
    assert sent[-1]["body"].endswith(b"event: end\ndata: {}\n\n")


@pytest.mark.row("P2")
def test_who_may_not_is_answered_as_the_log_itself_would(monkeypatch):
    _, sent = followed(monkeypatch, [404], told=_going_on())
    assert [message.get("status") for message in sent] == [404, None]


@pytest.mark.parametrize(
    "path", [f"/api/v1/runs/{UID}/events", f"/runs/{UID}/live/", f"/imports/{UID}/live/"]
)
def test_of_those_who_follow_two_at_most_hold_a_web_thread(path):
    under_way, most = 0, 0

    async def app(scope, receive, send):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        return None

    async def all_of_them():
        lane = events.EventMiddleware(app)
        scope = {"type": "http", "method": "GET", "path": path, "headers": []}
        await asyncio.gather(*(lane({**scope, "query_string": b""}, _no_body, send) for _ in range(50)))

    run_in_loop(all_of_them())
    assert most == 2


# How Django's answers reach the loop -----------------------------------------------------------------------
def answered(application):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}

    async def ask():
        bridge = WsgiBridge(application, workers=1)
        try:
            await bridge({**scope, "http_version": "1.1"}, _no_body, send)
        finally:
            bridge.executor.shutdown()

    run_in_loop(ask())
    return sent


def test_an_answer_arrives_whole_and_in_order_whatever_its_length():
    pieces = [bytes([65 + n]) * n * 40_000 for n in range(12)]

    def application(environ, start_response):
        start_response("200 OK", [("X-Length", json.dumps(len(pieces)))])
        return iter(pieces)

    sent = answered(application)
    assert sent[0] == {"type": "http.response.start", "status": 200, "headers": [(b"x-length", b"12")]}
    assert b"".join(message["body"] for message in sent[1:]) == b"".join(pieces)
    assert [message.get("more_body", False) for message in sent[1:]] == [True] * 12 + [False]


def test_what_goes_wrong_behind_the_bridge_is_not_swallowed():
    def application(environ, start_response):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        answered(application)


def test_a_client_who_is_left_ends_the_answer_that_was_made_for_it():
    closed = []

    class Answer:
        def __iter__(self):
            while True:
                yield b"x" * 300_000

        def close(self):
            closed.append(True)

    def application(environ, start_response):
        start_response("200 OK", [])
        return Answer()

    async def send(message):
        if message["type"] == "http.response.body":
            raise TimeoutError

    async def ask():
        bridge = WsgiBridge(application, workers=1)
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
        try:
            await bridge({**scope, "http_version": "1.1"}, _no_body, send)
        finally:
            bridge.executor.shutdown()

    with pytest.raises(TimeoutError):
        run_in_loop(ask())
    assert closed == [True]
