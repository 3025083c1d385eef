"""Sends files from the event loop, so that a slow client occupies no web thread.

A long response is written to a temporary file first, so that a slow client does not occupy memory either.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from typing import IO, Any

from django.conf import settings

from portal.streaming.files.ranges import requested_range
from portal.streaming.files.stored_files import CHUNK_BYTES, send_pieces, send_stored_file
from portal.streaming.inner_request import App, Message, Receive, Scope, Send
from registry.api.attachments import OpenedFile

STORED_FILE = "skillquay.stored_file"  # key of the StoredFile in the message that starts a response
_FILE_KEY = "skillquay.file"


class StreamedFile:
    """The ``wsgi.file_wrapper`` for responses whose file the event loop sends."""

    def __init__(self, file: IO[bytes], block_size: int = CHUNK_BYTES) -> None:
        self.file = file


def defer_file_sending(django: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Wraps the WSGI app. For a file response, puts the file into the ASGI scope and returns no body."""

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.file_wrapper"] = StreamedFile
        response = django(environ, start_response)
        if isinstance(response, StreamedFile):
            environ["asgi.scope"][_FILE_KEY] = response.file
            return []
        return response

    return application


class FileMiddleware:
    """Sends the file that ``defer_file_sending`` put into the scope, or the requested range, and closes it.

    Sends long bodies through a temporary file.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        inner = dict(scope)
        head: list[Message] = []  # held back until it is known whether a file follows, and in which range

        async def keep_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                head.append(message)
            elif _FILE_KEY not in inner:
                await _send_head(head, send)
                await _send_body(message, send)

        try:
            await self.app(inner, receive, keep_head)
            if _FILE_KEY in inner:
                await _send_file_response(inner, head.pop(), send)
            await _send_head(head, send)
        finally:
            if isinstance(inner.get(_FILE_KEY), OpenedFile):
                inner[_FILE_KEY].close()  # closing does not block, because the file is only read
            elif _FILE_KEY in inner:
                await asyncio.to_thread(inner[_FILE_KEY].close)
        return None


async def _send_head(head: list[Message], send: Send) -> None:
    if head:
        await send(head.pop())


async def _send_file_response(scope: Scope, head: Message, send: Send) -> None:
    """Sends the head and the whole file, or the range that the client requested."""
    file: IO[bytes] = scope[_FILE_KEY]
    if isinstance(file, OpenedFile):
        head = {**head, STORED_FILE: file.stored}
        return await send_stored_file(scope, head, file.stored, send, file=file)
    whole = head["status"] == 200 and await asyncio.to_thread(file.seekable)
    part = None
    if whole and scope.get("method") == "GET":
        part = requested_range(scope.get("headers", ()), list(head["headers"]))
    if whole:
        head = {**head, "headers": [*head["headers"], (b"accept-ranges", b"bytes")]}
    if part:
        head = {**head, "status": part.status, "headers": part.headers(list(head["headers"]))}
        await asyncio.to_thread(file.seek, part.start)
    await send(head)
    await send_pieces(file, send, limit=part.length if part else None)
    await send({"type": "http.response.body", "body": b""})
    return None


async def _send_body(message: Message, send: Send) -> None:
    """Sends a message with a body, through a temporary file if the body is long."""
    body = message.get("body", b"")
    if len(body) <= CHUNK_BYTES:
        return await send(message)
    try:
        file = await asyncio.to_thread(_write, body)
    except OSError:  # the disk is full: the body is sent from memory
        return await send(message)
    with file:
        message["body"] = body = b""
        await send_pieces(file, send)
    return await send(message)


def _write(body: bytes) -> IO[bytes]:
    file = tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR), buffering=0)  # noqa: SIM115 - sent by the caller
    file.write(body)
    file.seek(0)
    return file
