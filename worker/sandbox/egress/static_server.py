"""The static server of a run: answers its GET requests from ``Job.http_handler`` instead of a network.

script ── GET /… ──► 127.0.0.1:3128 in the run's own network ──► this process ──► ``Job.http_handler``

CONNECT works as in the proxy for the hosts of ``Job.network``; with an empty list, CONNECT is refused.
"""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus

from registry.packages.problems import Refusal
from worker.sandbox.egress.proxy import AllowlistProxy
from worker.sandbox.egress.proxy_requests import BadRequest, parse_head
from worker.sandbox.errors import NETWORK_REQUEST_INVALID, NETWORK_TOO_MUCH
from worker.sandbox.policy import HttpReply

_HEAD_TIMEOUT_S = 10.0
_END = b"\r\n\r\n"


class StaticServer(AllowlistProxy):
    """Answers one GET or HEAD request per connection from ``Job.http_handler``.

    Aborts the connection if the body fails, so that a part of it never looks complete.
    """

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(_END), _HEAD_TIMEOUT_S)
        except asyncio.LimitOverrunError:
            return await self._respond(writer, HttpReply(431), with_body=False)
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if words[0] == b"CONNECT" and self.allowed and self.open_connections <= self.max_connections:
            return await self._tunnel(head, reader, writer)
        too_many = self.open_connections > self.max_connections
        if too_many or len(words) != 3 or words[0] not in (b"GET", b"HEAD"):
            reply = HttpReply(405)
        else:
            target = words[1].decode("ascii", "replace")
            reply = await self._loop.run_in_executor(self._lookups, self._reply_to, target)
        return await self._respond(writer, reply, with_body=words[0] == b"GET")

    async def _tunnel(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = parse_head(head)
        except BadRequest as error:
            return await self._refuse(writer, "", 0, code=NETWORK_REQUEST_INVALID.name, detail=str(error))
        return await self._connect(request, reader, writer)

    def _reply_to(self, target: str) -> HttpReply:
        try:
            return self.http_handler(target) if self.http_handler else HttpReply(404)
        except Refusal as error:
            message = f"{error.code}: {error.problems[0].message()}\n"
            return HttpReply(502, body=iter([message.encode()]))

    async def _respond(self, writer: asyncio.StreamWriter, reply: HttpReply, *, with_body: bool) -> None:
        phrase = HTTPStatus(reply.status).phrase
        length = "" if reply.length is None else f"Content-Length: {reply.length}\r\n"
        head = f"HTTP/1.1 {reply.status} {phrase}\r\nContent-Type: {reply.content_type}\r\n{length}"
        writer.write(f"{head}Connection: close\r\n\r\n".encode("latin-1"))
        try:
            await self._send(writer, reply.body if with_body else iter(()))
        except Refusal:
            writer.transport.abort()
        else:
            await writer.drain()

    async def _send(self, writer: asyncio.StreamWriter, chunks: Iterator[bytes]) -> None:
        while chunk := await self._loop.run_in_executor(self._lookups, next, chunks, b""):
            self.bytes_left -= len(chunk)
            if self.bytes_left < 0:
                self._record("*", 0, NETWORK_TOO_MUCH.name)
                writer.transport.abort()
                return
            writer.write(chunk)
            await writer.drain()
