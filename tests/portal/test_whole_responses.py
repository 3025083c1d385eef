"""Responses that are written at once are the same, byte for byte, as those that the server composes."""

from __future__ import annotations

import pytest

from portal.streaming.kept import whole_responses
from portal.streaming.kept.whole_responses import Head, send_whole
from portal.streaming.request_timeout import H11TimeoutProtocol, RequestTimeoutProtocol
from tests.portal.test_lanes import exchanged

pytestmark = pytest.mark.row("P9")
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
REQUESTS = {
    "one": GET,
    "pipelined": GET + GET,
    "head": GET.replace(b"GET", b"HEAD"),
    "last": GET.replace(b"Host: a", b"Host: a\r\nConnection: close"),
    "old": GET.replace(b"1.1", b"1.0"),
}


def whole(status, body, length):
    head = Head(status, [(b"content-type", b"text/plain"), *((b"content-length", b"%d" % n) for n in length)])

    async def app(scope, receive, send):
        sent = b"" if scope["method"] == "HEAD" else body
        await send_whole(head, [(b"x-request-id", b"a"), (b"x-noise", b"b")], sent, send)

    return app


def through_middleware(app):
    async def wrapped(scope, receive, send):
        async def send_on(message):
            await send(message)

        await app(scope, receive, send_on)

    return wrapped


@pytest.mark.parametrize("protocol", [H11TimeoutProtocol, RequestTimeoutProtocol])
@pytest.mark.parametrize(
    ("status", "body", "length"),
    [
        (200, b"hello", [5]),
        (404, b"no", [2]),
        (304, b"", []),
        (200, b"hello", []),
        (200, b"x" * 70_000, [70_000]),
    ],
    ids=["document", "404", "304", "no length", "large"],
)
def test_responses_written_at_once_are_those_of_the_server(protocol, status, body, length, monkeypatch):
    app, written = whole(status, body, length), []
    write = whole_responses._write
    monkeypatch.setattr(whole_responses, "_write", lambda *parts: (written.append(1), write(*parts)))
    requests = [[request] for request in REQUESTS.values()]
    at_once = exchanged(protocol, requests, app=app)
    expected = 0 if protocol is H11TimeoutProtocol or not (length or status == 304) else 4
    if len(body) > 65_536:
        expected = min(expected, 1)  # HEAD
    assert len(written) == expected, "requests of connections that stay open"
    assert at_once == exchanged(protocol, requests, app=through_middleware(app))
    assert len(written) == expected, "middleware that wraps send sees each message"
    assert all(answer.startswith(b"HTTP/1.1 %d " % status) for answer in at_once)
    assert at_once[1] == at_once[0] * 2
