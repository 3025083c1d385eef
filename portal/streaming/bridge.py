"""Runs Django as a WSGI application behind the event loop, and passes responses to the loop in large
pieces.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, TypeVar

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi import Body, WSGIResponder, build_environ

from portal.streaming.inner_request import CLIENT, App, Message, Receive, Scope, Send, wait_for_disconnect

Result = TypeVar("Result")
MEAN_SHARE = 0.1  # weight of the newest request in the mean duration
_BUFFER_BYTES = 262_144  # bytes of a response that are collected before they go to the event loop


class WsgiBridge(WSGIMiddleware):
    """Runs ``app`` in ``workers`` threads. Passes a request to ``overloaded`` instead, if given, when the
    waiting requests would occupy the threads for more than ``max_queue_s`` seconds.
    """

    def __init__(
        self, app: Any, *, workers: int, max_queue_s: float = 0.0, overloaded: App | None = None
    ) -> None:
        super().__init__(self._with_timing(app), workers=workers)
        self.workers = workers
        self.max_queue_s = max_queue_s
        self.overloaded = overloaded
        self.calls = 0  # number of requests that run or wait for a thread
        self.mean_s = 0.0  # mean duration of the last requests in a thread

    def _with_timing(self, app: Any) -> Any:
        def timed_app(environ: Any, start_response: Any) -> Any:
            began = time.perf_counter()
            try:
                return app(environ, start_response)
            finally:
                self.mean_s += MEAN_SHARE * (time.perf_counter() - began - self.mean_s)

        return timed_app

    def _queue_s(self) -> float:
        """The seconds for which the waiting requests will occupy the threads, estimated from the mean
        duration.
        """
        return max(0, self.calls - self.workers) * self.mean_s / self.workers

    async def run(self, function: Callable[[], Result | None]) -> Result | None:
        """The result of the function in a thread for requests; None if too many requests wait for one."""
        if self.overloaded and self._queue_s() > self.max_queue_s:
            return None
        self.calls += 1
        try:
            return await asyncio.wrap_future(self.executor.submit(copy_context().run, function))
        finally:
            self.calls -= 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        if scope["type"] != "http":
            return await super().__call__(scope, receive, send)  # type: ignore[arg-type]
        if self.overloaded and self._queue_s() > self.max_queue_s:
            return await self.overloaded(scope, receive, send)
        responder = _Responder(self.app, self.executor, self.send_queue_size)
        client = scope.get(CLIENT) if self.calls >= self.workers else None
        self.calls += 1
        try:
            return await responder.answer(scope, receive, send, client)
        finally:
            self.calls -= 1


class _Responder(WSGIResponder):
    """Buffers messages, because each message passed to the event loop costs two switches of the interpreter
    lock.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.buffer: list[Message] = []
        self.size = 0

    async def answer(self, scope: Scope, receive: Receive, send: Send, client: Receive | None) -> None:
        """Sends Django's response; nothing if ``client`` disconnects before a thread takes the request.

        Raises the exception with which Django's response ended, if any.
        """
        self.to_client = send
        environ = build_environ(scope, Body(self.loop, receive))  # type: ignore[arg-type]
        call = self.executor.submit(copy_context().run, self.wsgi, environ, self.start_response)
        done = asyncio.wrap_future(call)
        if client and await _is_abandoned(call, done, client):
            return
        await done
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


async def _is_abandoned(call: Future[None], done: asyncio.Future[None], client: Receive) -> bool:
    """Waits until the call is done or the client disconnects.

    Returns True if it has cancelled the call, which is possible only before a thread takes it.
    """
    disconnect = asyncio.ensure_future(wait_for_disconnect(client))
    try:
        await asyncio.wait({done, disconnect}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        disconnect.cancel()
    return not done.done() and call.cancel()
