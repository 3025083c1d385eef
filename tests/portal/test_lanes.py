"""What the server does beside Django: long answers, and clients who take or give them slowly."""

from __future__ import annotations

import asyncio
import json
import os

import pytest
import uvicorn
from uvicorn.server import ServerState

from portal.streaming import request_timeout, waiting
from portal.streaming import watch as watching
from portal.streaming.files.middleware import CHUNK_BYTES, FileMiddleware
from tests.event_loops import run_in_loop
from worker.run_views.events import Head, events_since

pytestmark = pytest.mark.row("P5", "P9")
UID = "01kajq3s5d8m6v9x2c4b7n1p20"


async def nothing_to_receive():
    return {"type": "http.disconnect"}


def answers(body, headers=()):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": list(headers)})
        await send({"type": "http.response.body", "body": body})

    return app


def test_a_long_answer_waits_in_a_file_for_its_reader_not_in_memory(settings, tmp_path):
    settings.SKILLQUAY_VAR = tmp_path
    body, sent = os.urandom(CHUNK_BYTES * 3 + 7), []

    async def send(message):
        sent.append(message)

    run_in_loop(FileMiddleware(answers(body))({"type": "http"}, nothing_to_receive, send))
    pieces = [message["body"] for message in sent[1:]]
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) == CHUNK_BYTES
    assert [message.get("more_body", False) for message in sent[1:]] == [True] * 4 + [False]


def test_a_reader_who_takes_nothing_is_left(settings, tmp_path, monkeypatch):
    settings.SKILLQUAY_VAR = tmp_path
    monkeypatch.setattr("portal.streaming.files.stored_files.STALL_TIMEOUT_S", 0.01)

    async def send(message):
        if message["type"] == "http.response.body":
            await asyncio.sleep(3600)

    with pytest.raises(TimeoutError):
        run_in_loop(
            FileMiddleware(answers(b"x" * CHUNK_BYTES * 2))({"type": "http"}, nothing_to_receive, send)
        )


@pytest.mark.django_db
@pytest.mark.parametrize("position", ["0.99..\n\ndata: forged\n\n.0", "0.99.queued\nx.5.0", "0.99..1000.0"])
def test_no_position_puts_words_into_the_events(bob, public, team, position):
    from tests.factories.runs import make_run

    run = make_run(public.latest, bob, team, progress=None)
    told = events_since(run.uid, position)
    assert "forged" not in told.position
    assert told == events_since(run.uid)


def exchanged(protocol, requests, keep_alive=1, app=None):
    """What the server answers on a connection for each request, until it closes the connection."""

    async def exchange():
        config = uvicorn.Config(
            app or answers(b"hello"),
            http=protocol,
            timeout_keep_alive=keep_alive,
            lifespan="off",
            log_level="critical",
            access_log=False,
        )
        config.load()
        made = lambda: protocol(config, ServerState(), {})  # noqa: E731
        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.gather(*(_exchange_one(port, request) for request in requests))

    return run_in_loop(exchange())


async def _exchange_one(port, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    try:
        for piece in request:
            if piece is None:  # waits for an answer
                answer += await reader.readuntil(b"hello")
                continue
            writer.write(piece)
            await writer.drain()
        answer += await asyncio.wait_for(reader.read(), 5)
    except ConnectionError:
        pass
    writer.close()
    return answer


PROTOCOLS = [request_timeout.H11TimeoutProtocol, request_timeout.RequestTimeoutProtocol]
HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_connects_and_asks_nothing_is_left(protocol, monkeypatch):
    monkeypatch.setattr(request_timeout, "HEAD_S", 0.05)
    whole = HEAD + b"\r\n"
    silent, half, second, blank = exchanged(
        protocol, [[b""], [HEAD], [whole + HEAD], [whole, None, b"\r\n"]], keep_alive=60
    )
    assert (silent, half) == (b"", b"")
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in (second, blank))
    assert exchanged(protocol, [[whole]])[0].startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_endless_heads_and_trailers_are_refused(protocol, monkeypatch):
    monkeypatch.setattr(request_timeout, "HEAD_S", 1.0)
    filler, lines = b"x" * 1000, b"a: b\r\n" * 200
    chunked = HEAD.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: "
    requests = [
        [HEAD, b"X: ", *[filler] * 60],
        [HEAD, *[lines] * 60],
        [b"GET /", *[filler] * 60],
        [HEAD + b"X: " + filler * 60 + b"\r\n\r\n"],
        [HEAD + lines * 60 + b"\r\n"],
        [chunked, *[filler] * 120],
    ]
    found = exchanged(protocol, requests)
    assert [answer.count(b"200 OK") for answer in found[:5]] == [0] * 5


def test_pipelined_requests_and_small_chunks_are_answered(monkeypatch):
    monkeypatch.setattr(request_timeout, "HEAD_S", 1.0)
    protocol = request_timeout.RequestTimeoutProtocol
    chunked = HEAD.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n"
    (answer,) = exchanged(
        protocol, [[HEAD + b"\r\n" + chunked + b"1\r\nx\r\n" * 8_000 + b"0\r\n\r\n" + HEAD + b"\r\n"]]
    )
    assert answer.count(b"200 OK") == 3


def waited(client_answers, seconds):
    """The status that ``?wait=`` answers with, and how many times the run was read."""
    asked, sent = [], []

    async def app(scope, receive, send):
        asked.append(scope["path"])
        told = await asyncio.to_thread(client_answers, len(asked))
        await answers(json.dumps({"id": UID, "status": told}).encode())(scope, receive, send)

    async def send(message):
        sent.append(message)

    path, query = f"/api/v1/runs/{UID}", f"wait={seconds}".encode()
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": []}
    run_in_loop(waiting.WaitMiddleware(app)(scope, nothing_to_receive, send))
    return json.loads(sent[1]["body"])["status"], len(asked)


@pytest.mark.row("D6")
@pytest.mark.row("P8")
def test_rerun_waits_for_the_new_run(monkeypatch):
    async def ended(kind, uid, wait_s):
        return (kind, uid, wait_s) == ("runs", UID, 5)

    async def discard(message):
        pass

    asked = []

    async def app(scope, receive, send):
        asked.append((scope["method"], scope["path"]))
        status = "queued" if len(asked) == 1 else "succeeded"
        await answers(json.dumps({"id": UID, "status": status}).encode())(scope, receive, send)

    monkeypatch.setattr(waiting, "wait_for_end", ended)
    first = "/api/v1/runs/01kajq3s5d8m6v9x2c4b7n1p0a/rerun"
    scope = {"type": "http", "method": "POST", "path": first, "query_string": b"wait=5", "headers": []}
    run_in_loop(waiting.WaitMiddleware(app)(scope, nothing_to_receive, discard))
    assert asked == [("POST", first), ("GET", f"/api/v1/runs/{UID}")]


def test_who_waits_for_a_person_is_answered_when_they_have_decided(monkeypatch):
    """A run that was let is told as queued at once; nobody waits on for its end without asking again."""

    async def ended_within(kind, uid, wait_s):
        assert (kind, uid, wait_s) == ("approvals", UID, 5)
        return True

    monkeypatch.setattr(waiting, "wait_for_end", ended_within)
    assert waited(lambda time: "waiting_approval" if time == 1 else "queued", 5) == ("queued", 2)


@pytest.mark.row("D6")
def test_who_waits_for_a_person_who_says_nothing_is_told_so_in_time(monkeypatch):
    asks = Head(attempt=0, status="waiting_approval", progress=None, log_bytes=0)
    watch = watching.RowWatcher(lambda uids: dict.fromkeys(uids, asks), min_pause_s=0.01)
    monkeypatch.setitem(watching._watchers, "approvals", watch)
    monkeypatch.setattr(waiting, "MAX_WAIT_S", 0.05)
    assert waited(lambda time: "waiting_approval", 5) == ("waiting_approval", 1)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/api/v1/imports", f"/api/v1/imports/{UID}"),
        (f"/api/v1/imports/{UID}", f"/api/v1/imports/{UID}"),
        (f"/api/v1/sources/{UID}/imports", f"/api/v1/imports/{UID}"),
        (f"/api/v1/runs/{UID}", f"/api/v1/runs/{UID}"),
    ],
)
def test_who_waits_for_a_run_or_an_import_is_answered_when_it_has_ended(monkeypatch, path, read):
    asked, sent = [], []

    async def app(scope, receive, send):
        asked.append((scope["path"], scope["query_string"]))
        status = "queued" if len(asked) == 1 else "done"
        own = [(b"location", b"/1"), (b"ratelimit-limit", b"9")] if len(asked) == 1 else []
        head = [(b"etag", str(len(asked)).encode()), *own]
        await answers(json.dumps({"id": UID, "status": status}).encode(), head)(scope, receive, send)

    async def ended_within(kind, uid, wait_s):
        assert (kind, uid) == (read.split("/")[3], UID)
        return True

    async def send(message):
        sent.append(message)

    monkeypatch.setattr(waiting, "wait_for_end", ended_within)
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"wait=5&limit=2", "headers": []}
    run_in_loop(waiting.WaitMiddleware(app)(scope, nothing_to_receive, send))
    assert asked == [(path, b"limit=2"), (read, b"limit=2")]
    assert sent[0]["headers"] == [(b"etag", b"2"), (b"location", b"/1"), (b"ratelimit-limit", b"9")]
    assert json.loads(sent[1]["body"])["status"] == "done"
