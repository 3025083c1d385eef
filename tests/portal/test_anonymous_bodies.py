"""What a stranger may hold: request bodies, slow ones, unproven credentials, and places in the queue."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import uvicorn

from portal.streaming import anonymous_bodies, spooled_bodies
from portal.streaming.bridge import WsgiBridge
from portal.streaming.request_timeout import RequestTimeoutProtocol
from portal.streaming.spooled_bodies import BodyMiddleware
from tests.pages import is_chinese
from tests.site import free_port

pytestmark = pytest.mark.row("P3", "P9")
KB = 1024
SESSION = {"Cookie": "a=b; sessionid=unproven"}
TOKEN = {"Authorization": "Bearer valid"}


class Server:
    """A web server of this process, with one account and without Django behind it."""

    def __init__(self):
        self.port = free_port()
        self.checks = 0
        self.held = {}  # by address, while the last request was answered
        self.bodies = BodyMiddleware(self.app)

    async def app(self, scope, receive, send):
        if scope["path"] == "/api/v1/me":
            self.checks += 1
            status, body = 200 if (b"authorization", b"Bearer valid") in scope["headers"] else 401, b"{}"
        else:
            size, more = 0, True
            while more:
                message = await receive()
                size, more = size + len(message["body"]), message["more_body"]
            self.held = dict(self.bodies.budget.held)
            status, body = 200, str(size).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def post(self, size, headers=None, *, path="/api/v1/packages", source="127.0.0.1"):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10, source_address=(source, 0))
        try:
            client.request("POST", path, bytes(size), headers or {})
            response = client.getresponse()
            return response.status, response.headers, response.read()
        finally:
            client.close()

    def send(self, size, headers=None, *, announced=900 * KB, source="127.0.0.1"):
        """A connection that has sent ``size`` bytes of its body and stays."""
        client = socket.create_connection(("127.0.0.1", self.port), 10, (source, 0))
        headers = {"Host": "a", "Content-Length": announced, **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        client.sendall(f"POST /api/v1/packages HTTP/1.1\r\n{lines}\r\n".encode() + bytes(size))
        return client


@contextmanager
def serving(app, port):
    config = uvicorn.Config(app, port=port, http=RequestTimeoutProtocol, lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def server(settings, tmp_path, monkeypatch):
    settings.SKILLQUAY_VAR = tmp_path
    monkeypatch.setattr(spooled_bodies, "DRAIN_S", 0.2)
    server = Server()
    with serving(server.bodies, server.port):
        yield server


def read_all(client):
    with client.makefile("rb") as stream:
        return stream.read()


def code(response):
    return response[0], json.loads(response[2])["code"]


def test_an_unproven_session_holds_no_more_than_its_address_may(server):
    first = server.send(600 * KB, SESSION)
    _until(lambda: server.bodies.budget.sum > 600 * KB)
    clients = [first, *(server.send(600 * KB, SESSION) for _ in range(7))]
    _until(lambda: server.checks)
    answers = [read_all(client) for client in clients[1:]]
    assert all(b" 503 " in answer and b"ANONYMOUS_BODIES_FULL" in answer for answer in answers)
    assert all(b"retry-after: 5" in answer for answer in answers)
    assert server.bodies.budget.sum <= anonymous_bodies.ANONYMOUS_BYTES
    assert server.checks == 1, "an answer counts for some seconds"
    for client in clients:
        client.close()
    _until(lambda: server.bodies.budget.sum == 0)


def test_first_bytes_are_accepted_whatever_others_hold(server):
    with server.send(800 * KB), server.send(215 * KB):
        _until(lambda: sum(server.bodies.budget.held.values()) >= 1015 * KB)
        assert server.post(15 * KB)[:3:2] == (200, str(15 * KB).encode())
        assert code(server.post(100 * KB)) == (503, "ANONYMOUS_BODIES_FULL")
        assert server.post(100 * KB, source="127.0.0.9")[0] == 200, "another address has its own share"


def test_all_addresses_together_have_a_limit(server):
    server.bodies.budget.total = 1500 * KB
    with server.send(800 * KB), server.send(600 * KB, source="127.0.0.2"):
        _until(lambda: server.bodies.budget.sum >= 1400 * KB)
        assert code(server.post(150 * KB, source="127.0.0.3")) == (503, "ANONYMOUS_BODIES_FULL")
        assert server.post(150 * KB, TOKEN, source="127.0.0.3")[0] == 200


def test_an_account_s_body_counts_for_nobody(server):
    assert server.post(5000 * KB, TOKEN)[::2] == (200, str(5000 * KB).encode())
    assert server.held == {}
    assert server.post(5000 * KB, TOKEN)[0] == 200
    assert server.checks == 1


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({}, (413, "BODY_TOO_LARGE")),
        ({"Cookie": "x=1"}, (413, "BODY_TOO_LARGE")),
        (SESSION, (413, "BODY_TOO_LARGE")),
        ({"Authorization": "Bearer junk"}, (401, "TOKEN_INVALID")),
    ],
)
def test_a_long_anonymous_body_is_refused_and_its_client_can_read_why(server, headers, refusal):
    assert code(server.post(4000 * KB, headers)) == refusal
    _until(lambda: server.bodies.budget.sum == 0)


def test_a_browser_gets_a_page_in_its_language(server):
    status, headers, body = server.post(4000 * KB, {"Accept-Language": "zh-CN"}, path="/skills/new/")
    assert (status, headers["Content-Type"]) == (413, "text/html; charset=utf-8")
    page = body.decode()
    assert 'data-code="BODY_TOO_LARGE"' in page
    assert is_chinese(page)


def test_memory_and_disk_hold_no_refused_body(server, tmp_path):
    with server.send(800 * KB):
        _until(lambda: server.bodies.budget.sum > 800 * KB)
        assert code(server.post(600 * KB)) == (503, "ANONYMOUS_BODIES_FULL")
        links = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        assert len([link for link in links if str(link).startswith(str(tmp_path))]) == 1


def test_a_body_that_came_fast_at_first_must_keep_its_speed(server, monkeypatch):
    monkeypatch.setattr(spooled_bodies, "WINDOW_S", 0.5)
    monkeypatch.setattr(spooled_bodies, "MIN_BYTES_PER_S", 100_000)
    with server.send(700 * KB) as client:
        client.settimeout(0.05)
        answer = b""
        for _ in range(100):
            client.sendall(b"x")
            with suppress(TimeoutError):
                answer = client.recv(4000)
                break
        else:
            pytest.fail("a byte now and then keeps the body alive")
        client.settimeout(10)
        answer += read_all(client)
    assert b" 408 " in answer
    assert b"BODY_STALLED" in answer


def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(server):
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        client.sendall(head + b"0\r\n\r\nGET /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = read_all(client)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'data-code="BODY_LENGTH_AMBIGUOUS"' in answer


def test_a_request_whose_client_left_takes_no_thread():
    begun, go_on, asked = threading.Event(), threading.Event(), []

    def django(environ, start_response):
        asked.append(environ["PATH_INFO"])
        begun.set()
        assert go_on.wait(10)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    def ask(path):
        client = socket.create_connection(("127.0.0.1", port), 10)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return client

    port = free_port()
    bridge = WsgiBridge(django, workers=1)
    with serving(BodyMiddleware(bridge), port):
        first = ask("/first")
        assert begun.wait(10)
        patient, gone = ask("/patient"), ask("/gone")
        _until(lambda: bridge.calls == 3)
        gone.close()
        _until(lambda: bridge.calls == 2)
        go_on.set()
        assert [b"200 OK" in client.recv(1000) for client in (first, patient)] == [True, True]
        first.close()
        patient.close()
    assert asked == ["/first", "/patient"]


def _until(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
