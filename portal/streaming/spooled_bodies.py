"""Spools request bodies before Django reads them: a stalled upload holds a file, never a web thread."""

import asyncio
import json
import tempfile
import time
from typing import IO

from django.conf import settings

from portal.errors import BODY_STALLED, BODY_UNSTORABLE
from portal.streaming.inner_request import App, AppResponse, Message, Receive, Scope, Send
from registry import log_context
from registry.api.errors import BODY_TOO_LARGE
from registry.core.addresses import absolute_url
from registry.packages.problems import Refusal, code_named

IDLE_TIMEOUT_S = 20.0  # an upload is refused after this time without data
GRACE_S = 60.0  # after this time the average speed must reach MIN_BYTES_PER_S
MIN_BYTES_PER_S = 2_000
IN_MEMORY = 262_144  # bytes of a body that are kept in memory
CHUNK_BYTES = 65_536
FORM_BYTES = 4 * 2**20  # overhead of a form around its files


class ClientDisconnected(Exception):
    """The client disconnected before the end of its body."""


class BodyMiddleware:
    """Refuses slow and oversized bodies, and gives the app the spooled body."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.max_bytes = FORM_BYTES + max(
            settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
            settings.SKILLQUAY_MAX_UNPACKED_BYTES,
            settings.SKILLQUAY_MAX_INPUT_BYTES,
            settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            return await self.app(scope, receive, send)
        with tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(settings.SKILLQUAY_VAR)) as spool:
            try:
                size = await _spool(receive, spool, self.max_bytes if _has_credentials(scope) else FORM_BYTES)
            except Refusal as refused:
                return await _error_response(refused).relay(send)
            except ClientDisconnected:
                return None
            headers = [pair for pair in scope["headers"] if pair[0] not in _LENGTHS]
            headers.append((b"content-length", str(size).encode()))
            return await self.app({**scope, "headers": headers}, _replay(spool, receive), send)


def _has_credentials(scope: Scope) -> bool:
    """Whether the request carries a credential; without one only small form posts are accepted."""
    return any(name in (b"authorization", b"cookie") for name, _value in scope["headers"])


_LENGTHS = (b"content-length", b"transfer-encoding")


def _has_body(scope: Scope) -> bool:
    """Whether the request announces a body; ``Content-Length: 0`` counts as none."""
    return any(name in _LENGTHS and value != b"0" for name, value in scope["headers"])


async def _spool(receive: Receive, spool: IO[bytes], max_bytes: int) -> int:
    """Reads the whole body into ``spool`` and returns its size in bytes."""
    size, more = 0, True
    started = time.monotonic()
    while more:
        if time.monotonic() - started > GRACE_S + size / MIN_BYTES_PER_S:
            raise BODY_STALLED.refusal(seconds=int(GRACE_S))
        try:
            message = await asyncio.wait_for(receive(), IDLE_TIMEOUT_S)
        except TimeoutError:
            raise BODY_STALLED.refusal(seconds=int(IDLE_TIMEOUT_S)) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size > max_bytes:
            raise BODY_TOO_LARGE.refusal(limit=max_bytes)
        await asyncio.to_thread(_write, spool, chunk)
    spool.seek(0)
    return size


def _write(spool: IO[bytes], chunk: bytes) -> None:
    try:
        spool.write(chunk)
    except OSError as error:
        raise BODY_UNSTORABLE.refusal(reason=error.strerror or "") from error


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


def _error_response(refused: Refusal) -> AppResponse:
    """The API's error response; in English, as no language has been chosen this early."""
    code = code_named(refused.code)
    problems = [problem.document() for problem in refused.problems]
    document = {key: problems[0][key] for key in ("code", "message", "remedy")}
    document |= {"retryable": code.retryable, "docs_url": absolute_url(f"/api/v1/errors/{code.name}")}
    body = json.dumps(
        {**document, "request_id": log_context.current_id("request"), "problems": problems}
    ).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
    ]
    return AppResponse(code.http, headers, body)
