"""The narrower way out: what listens inside answers GET by itself, from what the worker gives it.

script ── GET /… ──► 127.0.0.1:3128 in the run's own network ──► this process ──► ``Job.served``

CONNECT, to the hosts that ``Job.network`` names, is the proxy's as ever; with an empty list it is nobody's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http import HTTPStatus

from registry.packages.problems import Refused
from worker.sandbox.asked import BadRequest, asked_by
from worker.sandbox.egress import Proxy
from worker.sandbox.policy import Reply

_HEAD_S = 10.0
_END = b"\r\n\r\n"


class Server(Proxy):
    """Serves one GET a connection; an answer that ends early is cut, so that it cannot pass for whole."""

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(_END), _HEAD_S)
        except asyncio.LimitOverrunError:
            return await self._say(writer, Reply(431), with_body=False)
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if words[0] == b"CONNECT" and self.allowed and self.open <= self.most:
            return await self._tunnel(head, reader, writer)
        if self.open > self.most or len(words) != 3 or words[0] not in (b"GET", b"HEAD"):
            reply = Reply(405)
        else:
            target = words[1].decode("ascii", "replace")
            reply = await self._loop.run_in_executor(self._names, self._ask, target)
        return await self._say(writer, reply, with_body=words[0] == b"GET")

    async def _tunnel(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = asked_by(head)
        except BadRequest as bad:
            return await self._refuse(writer, "", 0, why="NETWORK_REQUEST_INVALID", said=str(bad))
        return await self._connect(asked, reader, writer)

    def _ask(self, target: str) -> Reply:
        try:
            return self.served(target) if self.served else Reply(404)
        except Refused as no:
            return Reply(502, body=iter([f"{no.code}: {no.problems[0].message()}\n".encode()]))

    async def _say(self, writer: asyncio.StreamWriter, reply: Reply, *, with_body: bool) -> None:
        phrase = HTTPStatus(reply.status).phrase
        length = "" if reply.length is None else f"Content-Length: {reply.length}\r\n"
        head = f"HTTP/1.1 {reply.status} {phrase}\r\nContent-Type: {reply.content_type}\r\n{length}"
        writer.write(f"{head}Connection: close\r\n\r\n".encode("latin-1"))
        try:
            await self._send(writer, reply.body if with_body else iter(()))
        except Refused:
            writer.transport.abort()
        else:
            await writer.drain()

    async def _send(self, writer: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
        while piece := await self._loop.run_in_executor(self._names, next, pieces, b""):
            self.left -= len(piece)
            if self.left < 0:
                self._note("*", 0, "NETWORK_TOO_MUCH")
                writer.transport.abort()
                return
            writer.write(piece)
            await writer.drain()
