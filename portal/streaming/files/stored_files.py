"""Sends stored files, such as packages and artifacts, or redirects to the proxy or bucket that sends them.

The event loop itself reads files up to ``LOOP_BYTES`` from the local disk, because switching threads would
take longer than the read.
"""

import asyncio
from typing import Any

from django.conf import settings

from portal.streaming.files.ranges import Headers, requested_range
from portal.streaming.inner_request import Message, Scope, Send
from portal.streaming.refusals import refusal_response
from registry.api.attachments import OpenedFile, StoredFile
from registry.packages.problems import Refusal
from registry.storage import blobs

LOOP_BYTES = 262_144
CHUNK_BYTES = 262_144
STALL_TIMEOUT_S = 60.0  # limit for a client to receive one chunk
UNHURRIED_BYTES = 65_536  # the server buffers this much without waiting for the client


async def send_stored_file(
    scope: Scope,
    head: Message,
    stored: StoredFile,
    send: Send,
    *,
    file: OpenedFile | None = None,
    content: bytes | None = None,
) -> None:
    """Sends a response with status 200 and the headers in ``head``: the whole file, or the range that the
    client requested. ``file`` is the file if it is already open; the caller closes it. ``content`` is the
    whole content if it is known.

    Sends a refusal if the blob does not exist or the storage does not respond.
    """
    headers = [*head["headers"], (b"accept-ranges", b"bytes")]
    if scope["method"] == "HEAD":
        return await _send(head, 200, headers, send)
    if elsewhere := await _redirect(stored, headers):
        return await _send(head, *elsewhere, send)
    status, start, length = 200, 0, stored.size
    if part := requested_range(scope["headers"], headers):
        status, start, length = part.status, part.start, part.length
        headers = part.headers(headers)
    if content is not None:
        return await _send_in_loop(head, status, headers, send, content[start : start + length])
    opened = file or OpenedFile(stored)
    in_loop = length <= LOOP_BYTES and not settings.STORAGE_URL
    try:
        if in_loop:
            body = _read(opened, start, length)
        else:
            await asyncio.to_thread(_read, opened, start, 0)
    except Refusal as refused:
        return await refusal_response(scope, refused).relay(send)
    finally:
        if in_loop:
            opened.close()
    if in_loop:
        return await _send_in_loop(head, status, headers, send, body)
    try:
        await send({**head, "status": status, "headers": headers})
        await send_pieces(opened, send, limit=length)
        await send({"type": "http.response.body", "body": b""})
    finally:
        await asyncio.to_thread(opened.close)
    return None


def read_small(stored: StoredFile, limit: int) -> bytes | None:
    """The content of a file of at most ``limit`` bytes on the local disk, for ``send_stored_file``.

    None for other files, and if another server sends the file or it can't be read.
    """
    elsewhere = settings.STORAGE_URL or settings.SKILLQUAY_ACCEL_PREFIX
    if elsewhere or stored.size > limit:
        return None
    opened = OpenedFile(stored)
    try:
        return _read(opened, 0, stored.size)
    except (Refusal, OSError):
        return None
    finally:
        opened.close()


def _read(opened: OpenedFile, start: int, length: int) -> bytes:
    """Opens the file and returns ``length`` bytes from the offset ``start``."""
    opened.file.seek(start)
    return opened.file.read(length)


async def send_pieces(file: Any, send: Send, *, limit: int | None = None) -> None:
    """Sends the file from its current position to its end, or at most ``limit`` bytes.

    Raises TimeoutError if the client takes no data for ``STALL_TIMEOUT_S`` seconds.
    """
    while chunk := await asyncio.to_thread(
        file.read, CHUNK_BYTES if limit is None else min(CHUNK_BYTES, limit)
    ):
        limit = None if limit is None else limit - len(chunk)
        async with asyncio.timeout(STALL_TIMEOUT_S):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _send_in_loop(head: Message, status: int, headers: Headers, send: Send, body: bytes) -> None:
    if len(body) <= UNHURRIED_BYTES:
        return await _send(head, status, headers, send, body)
    async with asyncio.timeout(STALL_TIMEOUT_S):
        return await _send(head, status, headers, send, body)


async def _send(head: Message, status: int, headers: Headers, send: Send, body: bytes = b"") -> None:
    await send({**head, "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _redirect(stored: StoredFile, headers: Headers) -> tuple[int, Headers] | None:
    """The status and headers that make nginx or the client read the file directly; None if this process sends
    it.
    """
    if settings.SKILLQUAY_ACCEL_PREFIX and not settings.STORAGE_URL:
        path = f"{settings.SKILLQUAY_ACCEL_PREFIX}{blobs.relative_path(stored.digest)}"
        kept = [pair for pair in headers if pair[0].lower() not in (b"content-length", b"accept-ranges")]
        return 200, [*kept, (b"x-accel-redirect", path.encode()), (b"content-length", b"0")]
    if settings.SKILLQUAY_S3_REDIRECTS and settings.STORAGE_URL:
        named = {name.lower(): value.decode("latin-1") for name, value in headers}
        address = await asyncio.to_thread(
            blobs.signed_url,
            stored.digest,
            content_type=named[b"content-type"],
            disposition=named.get(b"content-disposition", "attachment"),
        )
        kept = [pair for pair in headers if pair[0].lower() in _REDIRECT_HEADERS]
        return 307, [
            *kept,
            (b"location", address.encode()),
            (b"cache-control", b"private, no-store"),
            (b"content-length", b"0"),
        ]
    return None


_REDIRECT_HEADERS = (b"x-digest", b"x-request-id", b"vary", b"content-security-policy")
