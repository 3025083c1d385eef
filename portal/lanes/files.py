"""Long answers without a thread each: Django opens the file and sends the head, this lane sends the bytes.

A long answer that is not a file becomes one, so that a reader who stalls holds neither thread nor memory.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from typing import IO, Any

from django.conf import settings

from portal.lanes.inner import App, Message, Receive, Scope, Send
from portal.lanes.ranges import asked_part

PIECE = 262_144  # bytes
STALLED_S = 60.0  # for a reader to take one piece
_KEY = "skillquay.file"


class HandedOver:
    """What Django's handler makes of a file answer when it finds this as ``wsgi.file_wrapper``."""

    def __init__(self, file: IO[bytes], block_size: int = PIECE) -> None:
        self.file = file


def hand_over_files(django: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.file_wrapper"] = HandedOver
        answer = django(environ, start_response)
        if isinstance(answer, HandedOver):
            environ["asgi.scope"][_KEY] = answer.file
            return []
        return answer

    return application


class FileLane:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        inner = dict(scope)
        head: list[Message] = []  # held until it is known whether a file follows, and which part of it

        async def hold_end(message: Message) -> None:
            if message["type"] == "http.response.start":
                head.append(message)
            elif _KEY not in inner:
                await _send_head(head, send)
                await _send_piece(message, send)

        try:
            await self.app(inner, receive, hold_end)
            if _KEY in inner:
                await _answer_file(inner, head.pop(), send)
            await _send_head(head, send)
        finally:
            if _KEY in inner:
                await asyncio.to_thread(inner[_KEY].close)
        return None


async def _send_head(head: list[Message], send: Send) -> None:
    if head:
        await send(head.pop())


async def _answer_file(scope: Scope, head: Message, send: Send) -> None:
    """The whole file, or the part of it that the client asked for."""
    file: IO[bytes] = scope[_KEY]
    whole = head["status"] == 200 and await asyncio.to_thread(file.seekable)
    part = None
    if whole and scope.get("method") == "GET":
        part = asked_part(scope.get("headers", ()), list(head["headers"]))
    if whole:
        head = {**head, "headers": [*head["headers"], (b"accept-ranges", b"bytes")]}
    if part:
        head = {**head, "status": part.status, "headers": part.headers(list(head["headers"]))}
        await asyncio.to_thread(file.seek, part.start)
    await send(head)
    await _send_file(file, send, most=part.length if part else None)
    await send({"type": "http.response.body", "body": b""})


async def _send_piece(message: Message, send: Send) -> None:
    """What Django made at once, by way of a file where it is long."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        return await send(message)
    with tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR)) as file:
        await asyncio.to_thread(_write, file, body)
        message["body"] = body = b""
        await _send_file(file, send)
    return await send(message)


def _write(file: IO[bytes], body: bytes) -> None:
    file.write(body)
    file.seek(0)


async def _send_file(file: IO[bytes], send: Send, *, most: int | None = None) -> None:
    """The file from where it stands, to its end or ``most`` bytes on."""
    while piece := await asyncio.to_thread(file.read, PIECE if most is None else min(PIECE, most)):
        most = None if most is None else most - len(piece)
        async with asyncio.timeout(STALLED_S):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
