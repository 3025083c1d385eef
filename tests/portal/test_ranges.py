"""A download that was cut off goes on where it was."""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.streaming.files import middleware as files
from portal.streaming.files.middleware import FileMiddleware

pytestmark = pytest.mark.row("P5")
BODY = bytes(range(10))


def answered(headers, *, method="GET", status=200, more=(), file=None):
    """What the lane makes of a file answer: status, headers, body."""
    sent = []

    async def app(scope, receive, send):
        scope[files._FILE_KEY] = file or io.BytesIO(BODY)
        length = (b"Content-Length", str(len(BODY)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [length, *more]})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": method, "headers": headers}
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, FileMiddleware(app)(scope, receive, send)).result()
    head, *rest = sent
    named = {name.lower(): value for name, value in head["headers"]}
    return head["status"], named, b"".join(one["body"] for one in rest)


@pytest.mark.parametrize(
    ("asked", "status", "told", "body"),
    [
        (b"bytes=0-3", 206, b"bytes 0-3/10", BODY[:4]),
        (b"bytes=7-", 206, b"bytes 7-9/10", BODY[7:]),
        (b"bytes=-2", 206, b"bytes 8-9/10", BODY[8:]),
        (b"bytes=-99", 206, b"bytes 0-9/10", BODY),
        (b"bytes=3-99", 206, b"bytes 3-9/10", BODY[3:]),
        (b"bytes=10-", 416, b"bytes */10", b""),
        (b"bytes=-0", 416, b"bytes */10", b""),
        (b"bytes=0-1,3-4", 200, None, BODY),
        (b"bytes=4-1", 200, None, BODY),
        (b"bytes=-", 200, None, BODY),
        (b"lines=0-1", 200, None, BODY),
        (b"bytes=" + b"9" * 500 + b"-", 200, None, BODY),
    ],
)
def test_one_range_is_answered_and_anything_else_is_the_whole(asked, status, told, body):
    found = answered([(b"range", asked)])
    assert (found[0], found[1].get(b"content-range"), found[2]) == (status, told, body)
    assert int(found[1][b"content-length"]) == len(body)
    assert found[1][b"accept-ranges"] == b"bytes"


@pytest.mark.parametrize(("tag", "status"), [(b'"a"', 206), (b'"b"', 200), (b'W/"a"', 200)])
def test_a_range_of_what_has_changed_is_the_whole(tag, status):
    asked = [(b"range", b"bytes=1-2"), (b"if-range", tag)]
    assert answered(asked, more=[(b"ETag", b'"a"')])[0] == status


def test_neither_other_methods_nor_other_answers_have_ranges():
    asked = [(b"range", b"bytes=1-2")]
    assert answered(asked, method="HEAD")[0] == 200
    assert answered(asked, status=404)[0] == 404
    assert answered(asked, more=[(b"content-encoding", b"gzip")])[0] == 200


def test_a_file_that_cannot_be_wound_is_sent_whole():
    class Stream(io.BytesIO):
        def seekable(self):
            return False

    assert answered([(b"range", b"bytes=1-2")], file=Stream(BODY))[0::2] == (200, BODY)
