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

        async def hold_end(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
            elif _KEY not in inner:
                await _send_piece(message, send)

        try:
            await self.app(inner, receive, hold_end)
            if _KEY in inner:
                await _send_file(inner[_KEY], send)
                await send({"type": "http.response.body", "body": b""})
        finally:
            if _KEY in inner:
                await asyncio.to_thread(inner[_KEY].close)
        return None


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


async def _send_file(file: IO[bytes], send: Send) -> None:
    while piece := await asyncio.to_thread(file.read, PIECE):
        async with asyncio.timeout(STALLED_S):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
