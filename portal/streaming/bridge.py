"""Runs Django as WSGI behind the event loop; a short response crosses to the loop once, not in pieces."""

import asyncio
from contextvars import copy_context
from typing import Any

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi import Body, WSGIResponder, build_environ

from portal.streaming.inner_request import Message, Receive, Scope, Send

_BUFFER_BYTES = 262_144  # of a response, before it is passed to the event loop


class WsgiBridge(WSGIMiddleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        if scope["type"] != "http":
            return await super().__call__(scope, receive, send)  # type: ignore[arg-type]
        responder = _Responder(self.app, self.executor, self.send_queue_size)
        return await responder.answer(scope, receive, send)


class _Responder(WSGIResponder):
    """Buffers messages: passing one to the loop costs two switches of the interpreter lock."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.buffer: list[Message] = []
        self.size = 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.to_client = send
        environ = build_environ(scope, Body(self.loop, receive))  # type: ignore[arg-type]
        in_thread = copy_context().run
        await self.loop.run_in_executor(self.executor, in_thread, self.wsgi, environ, self.start_response)
        await self._flush()
        if self.exc_info is not None:
            raise self.exc_info[0].with_traceback(self.exc_info[1], self.exc_info[2])

    def send(self, message: Any) -> None:
        self.buffer.append(message)
        self.size += len(message.get("body", b""))
        if self.size > _BUFFER_BYTES:
            asyncio.run_coroutine_threadsafe(self._flush(), self.loop).result()

    async def _flush(self) -> None:
        messages, self.buffer, self.size = self.buffer, [], 0
        for message in messages:
            await self.to_client(message)
