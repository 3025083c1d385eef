"""Django as WSGI behind the loop; a short answer is handed over once, not in pieces that each wait for it."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import Any

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi import Body, WSGIResponder, build_environ

from portal.lanes.inner import Message, Receive, Scope, Send

_AT_ONCE = 262_144  # bytes kept until they are handed over


class Bridge(WSGIMiddleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        if scope["type"] != "http":
            return await super().__call__(scope, receive, send)  # type: ignore[arg-type]
        responder = _Responder(self.app, self.executor, self.send_queue_size)
        return await responder.answer(scope, receive, send)


class _Responder(WSGIResponder):
    """Each hand-over costs the thread two turns of the interpreter's lock, which others want too."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.kept: list[Message] = []
        self.size = 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.to_client = send
        environ = build_environ(scope, Body(self.loop, receive))  # type: ignore[arg-type]
        in_thread = copy_context().run
        await self.loop.run_in_executor(self.executor, in_thread, self.wsgi, environ, self.start_response)
        await self._hand_over()
        if self.exc_info is not None:
            raise self.exc_info[0].with_traceback(self.exc_info[1], self.exc_info[2])

    def send(self, message: Any) -> None:
        self.kept.append(message)
        self.size += len(message.get("body", b""))
        if self.size > _AT_ONCE:
            asyncio.run_coroutine_threadsafe(self._hand_over(), self.loop).result()

    async def _hand_over(self) -> None:
        kept, self.kept, self.size = self.kept, [], 0
        for message in kept:
            await self.to_client(message)
