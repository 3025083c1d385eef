"""Bodies are spooled before Django sees them: an upload that stalls holds a file, never a web thread."""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
import time
from typing import IO

from django.conf import settings

from portal.lanes.inner import Answer, App, Message, Receive, Scope, Send
from registry.addresses import absolute
from registry.packages.problems import CODES, Refused, refuse

IDLE_S = 20.0  # without a byte, then the upload is refused
GRACE_S = 60.0  # after which an upload must have come at least this fast, on the whole
SLOWEST = 2_000  # bytes a second
IN_MEMORY = 262_144  # bytes of a body kept out of the disk
PIECE = 65_536
FORM_BYTES = 4 * 2**20  # what a form adds around its files


class ClientLeft(Exception):
    """The client hung up in the middle of its body."""


class BodyLane:
    def __init__(self, app: App) -> None:
        self.app = app
        self.most = FORM_BYTES + max(
            settings.SKILLQUAY_ARCHIVE_BYTES,
            settings.SKILLQUAY_UNPACKED_BYTES,
            settings.SKILLQUAY_INPUT_BYTES,
            settings.SKILLQUAY_IMPORT_ARCHIVE_BYTES,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            return await self.app(scope, receive, send)
        with tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(settings.SKILLQUAY_VAR)) as spool:
            try:
                size = await _spool(receive, spool, self.most if _is_somebody(scope) else FORM_BYTES)
            except Refused as refused:
                return await _answer(refused).relay(send)
            except ClientLeft:
                return None
            headers = [pair for pair in scope["headers"] if pair[0] not in _LENGTHS]
            headers.append((b"content-length", str(size).encode()))
            return await self.app({**scope, "headers": headers}, _replay(spool, receive), send)


def _is_somebody(scope: Scope) -> bool:
    """Whether a credential came along; whoever has none has nothing to send but a form of words."""
    return any(name in (b"authorization", b"cookie") for name, _value in scope["headers"])


_LENGTHS = (b"content-length", b"transfer-encoding")


def _has_body(scope: Scope) -> bool:
    """Whether a body is announced; ``Content-Length: 0`` needs no lane."""
    return any(name in _LENGTHS and value != b"0" for name, value in scope["headers"])


async def _spool(receive: Receive, spool: IO[bytes], most: int) -> int:
    """Takes the whole body, bytes in order, and answers its size."""
    size, more = 0, True
    begun = time.monotonic()
    while more:
        if time.monotonic() - begun > GRACE_S + size / SLOWEST:
            raise refuse("BODY_STALLED", seconds=int(GRACE_S))
        try:
            message = await asyncio.wait_for(receive(), IDLE_S)
        except TimeoutError:
            raise refuse("BODY_STALLED", seconds=int(IDLE_S)) from None
        if message["type"] == "http.disconnect":
            raise ClientLeft
        piece, more = message.get("body", b""), message.get("more_body", False)
        size += len(piece)
        if size > most:
            raise refuse("BODY_TOO_LARGE", limit=most)
        await asyncio.to_thread(_write, spool, piece)
    spool.seek(0)
    return size


def _write(spool: IO[bytes], piece: bytes) -> None:
    try:
        spool.write(piece)
    except OSError as error:
        raise refuse("BODY_UNSTORABLE", reason=error.strerror or "") from error


def _replay(spool: IO[bytes], receive: Receive) -> Receive:
    done = False

    async def again() -> Message:
        nonlocal done
        if done:
            return await receive()
        piece = spool.read(PIECE)
        done = len(piece) < PIECE
        return {"type": "http.request", "body": piece, "more_body": not done}

    return again


def _answer(refused: Refused) -> Answer:
    """The API's error document; no language has been chosen this early, so it is in English."""
    code = CODES[refused.code]
    problems = [problem.document() for problem in refused.problems]
    document = {key: problems[0][key] for key in ("code", "message", "remedy")}
    document |= {"retryable": code.retryable, "docs_url": absolute(f"/api/v1/errors/{code.name}")}
    body = json.dumps({**document, "request_id": secrets.token_hex(13), "problems": problems}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
    ]
    return Answer(code.http, headers, body)
