"""Packages and artifacts are sent by the event loop, by nginx, or by the bucket."""

from __future__ import annotations

import asyncio
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.streaming.files import stored_files as sending
from portal.streaming.files.stored_files import LOOP_BYTES, send_stored_file
from registry.api.attachments import StoredFile
from registry.storage import blobs

pytestmark = pytest.mark.row("P5")
SIZES = [0, 20_000, LOOP_BYTES, LOOP_BYTES * 2 + 7]


def sent(stored, *, headers=(), method="GET", accepts_nothing=False):
    """Status, headers and body of the response to a request for the file."""
    messages = []

    async def send(message):
        messages.append(message)
        if accepts_nothing and message["type"] == "http.response.body":
            await asyncio.sleep(3600)

    scope = {
        "type": "http",
        "method": method,
        "path": "/api/v1/x",
        "headers": list(headers),
        "query_string": b"",
    }
    named = {
        b"content-length": str(stored.size).encode(),
        b"content-type": b"application/zip",
        b"content-disposition": b'attachment; filename="a.zip"',
        b"etag": b'"a"',
        b"x-digest": stored.digest.encode(),
    }
    head = {"type": "http.response.start", "status": 200, "headers": list(named.items())}
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, send_stored_file(scope, head, stored, send)).result()
    start, *rest = messages
    assert not rest[-1].get("more_body")
    return start["status"], dict(start["headers"]), b"".join(one["body"] for one in rest)


def store(size):
    data = bytes(n * 7 % 251 for n in range(size))
    return StoredFile(blobs.store(data), size), data


@pytest.mark.parametrize("size", SIZES)
def test_file_is_sent_whole_in_part_and_as_head(place, size):
    stored, data = store(size)
    status, headers, body = sent(stored)
    assert (status, body, int(headers[b"content-length"])) == (200, data, size)
    assert headers[b"accept-ranges"] == b"bytes"
    status, headers, body = sent(stored, method="HEAD")
    assert (status, body, int(headers[b"content-length"])) == (200, b"", size)
    if size:
        status, headers, body = sent(stored, headers=[(b"range", b"bytes=5-"), (b"if-range", b'"a"')])
        assert (status, body) == (206, data[5:])
        assert headers[b"content-range"] == f"bytes 5-{size - 1}/{size}".encode()


def test_missing_blob_is_refused_with_a_code(place):
    missing = StoredFile("sha256:" + "0" * 64, 10)
    status, headers, body = sent(missing)
    assert status >= 400
    assert b"BLOB_MISSING" in body
    assert b"x-digest" not in headers


@pytest.mark.parametrize("size", [LOOP_BYTES, LOOP_BYTES * 2])
def test_client_that_takes_no_data_is_disconnected(local_storage, monkeypatch, size):
    monkeypatch.setattr(sending, "STALL_TIMEOUT_S", 0.01)
    with pytest.raises(TimeoutError):
        sent(store(size)[0], accepts_nothing=True)


def test_nginx_gets_the_path_of_the_file(local_storage, settings):
    settings.SKILLQUAY_ACCEL_PREFIX = "/stored-files/"
    stored, data = store(100)
    status, headers, body = sent(stored)
    assert (status, body, headers[b"content-length"]) == (200, b"", b"0")
    path = headers[b"x-accel-redirect"].decode().removeprefix("/stored-files/")
    assert (settings.SKILLQUAY_VAR / "blobs" / path).read_bytes() == data


@pytest.mark.parametrize("place", ["s3"], indirect=True)
def test_bucket_sends_the_file_after_a_signed_redirect(place, settings):
    settings.SKILLQUAY_S3_REDIRECTS = True
    stored, data = store(100)
    status, headers, body = sent(stored)
    assert (status, body, headers[b"cache-control"]) == (307, b"", b"private, no-store")
    with urllib.request.urlopen(headers[b"location"].decode()) as answer:
        assert answer.read() == data
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="a.zip"'
    assert b"etag" not in headers
