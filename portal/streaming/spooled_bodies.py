"""Stores request bodies before Django reads them, so that a slow upload occupies no web thread."""

import asyncio
import io
import tempfile
import time
from contextlib import suppress
from typing import IO

from django.conf import settings

from portal.errors import BODY_LENGTH_AMBIGUOUS, BODY_STALLED, BODY_UNSTORABLE
from portal.streaming.anonymous_bodies import AnonymousBudget, BodyShare, CredentialCheck, credential
from portal.streaming.inner_request import CLIENT, App, Message, Receive, Scope, Send
from portal.streaming.refusals import refusal_response
from registry.api.errors import BODY_TOO_LARGE
from registry.packages.problems import Refusal

IDLE_TIMEOUT_S = 20.0  # an upload is refused after this time without data
WINDOW_S = 30.0  # MIN_BYTES_PER_S is required in each period of this length spent waiting for data
MIN_BYTES_PER_S = 2_000
IN_MEMORY = 4_096  # bytes of a body; a longer body goes to a file, whose space is freed at once
CHUNK_BYTES = 65_536
FORM_BYTES = 4 * 2**20  # overhead of a form around its files
DRAIN_S = 1.0  # data of a refused client is still read for this time, so that it can read the refusal
DRAIN_BYTES = 8 * 2**20
_DRAINS = 8  # limit of concurrent drains; further refused clients are disconnected at once
_LENGTHS = (b"content-length", b"transfer-encoding")


class ClientDisconnected(Exception):
    """Raised if the client disconnects before the end of its body."""


class BodyMiddleware:
    """Receives the whole body, then calls the app with the stored body.

    Refuses bodies that are too slow, too large, or beyond the budget of anonymous clients.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self.budget = AnonymousBudget()
        self.check = CredentialCheck(app)
        self.drains = asyncio.Semaphore(_DRAINS)
        self.max_bytes = FORM_BYTES + max(
            settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
            settings.SKILLQUAY_MAX_UNPACKED_BYTES,
            settings.SKILLQUAY_MAX_INPUT_BYTES,
            settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        scope = {**scope, CLIENT: receive}  # a copy, because the server's own scope would refer to itself
        lengths = dict(pair for pair in scope["headers"] if pair[0] in _LENGTHS)
        if lengths.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in lengths:
            return await self.app(scope, _replay(io.BytesIO(), receive), send)
        if len(lengths) > 1:  # a proxy may have read another length: RFC 9112, 6.3
            return await refusal_response(scope, BODY_LENGTH_AMBIGUOUS.refusal()).relay(send)
        return await self._receive_body(scope, receive, send, int(lengths.get(b"content-length", 0)))

    async def _receive_body(self, scope: Scope, receive: Receive, send: Send, announced: int) -> None:
        with (
            BodyShare(scope, self.budget, self.check) as share,
            tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(settings.SKILLQUAY_VAR)) as spool,
        ):
            try:
                self._check_announced(scope, announced)
                size = await self._spool(receive, spool, share)
            except Refusal as refused:
                _discard(spool)
                share.release()
                return await self._refuse(scope, refused, receive, send)
            except ClientDisconnected:
                return None
            headers = [pair for pair in scope["headers"] if pair[0] not in _LENGTHS]
            headers.append((b"content-length", str(size).encode()))
            return await self.app({**scope, "headers": headers}, _replay(spool, receive), send)

    def _check_announced(self, scope: Scope, announced: int) -> None:
        limit = self.max_bytes if credential(scope) else self.budget.per_address
        if announced > limit:
            raise BODY_TOO_LARGE.refusal(limit=limit)

    async def _spool(self, receive: Receive, spool: IO[bytes], share: BodyShare) -> int:
        """Reads the whole body into ``spool`` and returns its size in bytes.

        Raises Refusal or ClientDisconnected.
        """
        size, more, pace = 0, True, _Pace(receive)
        while more:
            chunk, more = await pace.next_chunk()
            size += len(chunk)
            if size > self.max_bytes:
                raise BODY_TOO_LARGE.refusal(limit=self.max_bytes)
            await share.grow(size)
            if share.signed_in:
                await asyncio.to_thread(_write, spool, chunk)
            else:  # the body stays small: more would arrive while the request waits for a thread
                _write(spool, chunk)
            chunk = b""  # frees the chunk while waiting for the next one
        spool.seek(0)
        return size

    async def _refuse(self, scope: Scope, refused: Refusal, receive: Receive, send: Send) -> None:
        """Sends the refusal and continues to read for a while, because many clients read only after sending
        their body.
        """
        response = refusal_response(scope, refused)
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        if not self.drains.locked():
            with suppress(TimeoutError):
                async with self.drains, asyncio.timeout(DRAIN_S):
                    await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


class _Pace:
    """Receives the chunks of a body. Raises BODY_STALLED for a slow client, or ClientDisconnected.

    Counts only the time spent waiting for the client, not the time to write to disk.
    """

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.left_s, self.due = WINDOW_S, WINDOW_S * MIN_BYTES_PER_S

    async def next_chunk(self) -> tuple[bytes, bool]:
        started = time.monotonic()
        try:
            async with asyncio.timeout(min(IDLE_TIMEOUT_S, self.left_s)):
                message = await self.receive()
        except TimeoutError:
            raise BODY_STALLED.refusal(seconds=int(IDLE_TIMEOUT_S)) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        chunk: bytes = message.get("body", b"")
        self.left_s -= time.monotonic() - started
        self.due -= len(chunk)
        if self.due <= 0:
            self.left_s, self.due = WINDOW_S, WINDOW_S * MIN_BYTES_PER_S
        return chunk, message.get("more_body", False)


async def _drain(receive: Receive) -> None:
    size, more = 0, True
    while more and size < DRAIN_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)


def _write(spool: IO[bytes], chunk: bytes) -> None:
    try:
        spool.write(chunk)
        spool.flush()
    except OSError as error:
        raise BODY_UNSTORABLE.refusal(reason=error.strerror or "") from error


def _discard(spool: IO[bytes]) -> None:
    with suppress(OSError):  # the disk may be full, but the unwritten rest is not needed
        spool.close()


def _replay(spool: IO[bytes], receive: Receive) -> Receive:
    done = False

    async def receive_spooled() -> Message:
        nonlocal done
        if done:
            return await receive()
        chunk = spool.read(CHUNK_BYTES)
        done = len(chunk) < CHUNK_BYTES
        return {"type": "http.request", "body": chunk, "more_body": not done}

    return receive_spooled
