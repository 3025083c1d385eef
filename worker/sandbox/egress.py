"""The proxy of one run: lets it reach the hosts of its allowlist, and writes down every decision.

script ── CONNECT, GET ──► 127.0.0.1:3128 in the run's own network ──► this process ──► the checked address

The launcher inside listens and hands the listening descriptor out; nothing but its connections crosses.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from registry.packages.problems import Refused
from worker.sandbox import codes as codes  # declares why a host is refused
from worker.sandbox import hosts
from worker.sandbox.asked import Asked, BadRequest, answer, read_head
from worker.sandbox.policy import Dial, Job

PORT = 3128
ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), f"http://127.0.0.1:{PORT}"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
    "NODE_USE_ENV_PROXY": "1",
}
HEAD_BYTES = 16_384
_HEAD_S, _DIAL_S = 10.0, 10.0
_FAREWELL_S = 5.0  # for a script to read what it has still to read
_ADDRESSES = 4  # of a name are tried
_DIALS = 200  # different decisions that are kept one by one
_PIECE = 65_536


class Proxy:
    """Serves while it is entered, in a thread of its own; ``dials`` are its decisions so far."""

    def __init__(self, job: Job, gate: socket.socket) -> None:
        self.resolve, self.gate, self.most = job.resolve, gate, job.limits.connections
        self.served = job.served
        self.allowed = hosts.read(job.network or ())
        self.left = job.limits.network_bytes
        self.open = 0
        self._counts: dict[Dial, int] = {}
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._names = ThreadPoolExecutor(4, "skillquay-names")
        self._thread = threading.Thread(target=self._run, name="skillquay-egress", daemon=True)

    def __enter__(self) -> Self:
        self.gate.setblocking(False)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._names.shutdown(wait=False, cancel_futures=True)

    @property
    def dials(self) -> tuple[Dial, ...]:
        return tuple(
            Dial(dial.host, dial.port, dial.allowed, dial.why, count) for dial, count in self._counts.items()
        )

    # its thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _serve(self) -> None:
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            handed_out = await _first(self._handed_out(), stop)
            if handed_out is not None:
                await self._attend(handed_out, stop)
        finally:
            stop.cancel()
            await self._end_all()

    async def _attend(self, listener: int, stop: asyncio.Future[Any]) -> None:
        """Meets whoever connects, until the end."""
        sock = socket.socket(fileno=listener)
        server = await asyncio.start_server(self._meet, sock=sock, limit=HEAD_BYTES)
        await stop
        server.close()

    async def _handed_out(self) -> int | None:
        """The listening socket, as the launcher hands it out; None where the run ends before."""
        ready = asyncio.Event()
        self._loop.add_reader(self.gate, ready.set)
        try:
            await ready.wait()
            _word, found, _flags, _address = socket.recv_fds(self.gate, 1, 1)
        except OSError:
            return None
        finally:
            self._loop.remove_reader(self.gate)
        for descriptor in found:
            os.set_inheritable(descriptor, False)
        return found[0] if found else None

    async def _end_all(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # one connection

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # the script went away
        except asyncio.CancelledError:
            pass  # the run has ended: asyncio would log that as a failure of ours
        finally:
            await _close(writer)
            self.open -= 1

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.open > self.most:
            return await self._refuse(writer, "*", 0, why="NETWORK_TOO_MUCH")
        try:
            asked = await asyncio.wait_for(read_head(reader), _HEAD_S)
        except BadRequest as bad:
            return await self._refuse(writer, "", 0, why="NETWORK_REQUEST_INVALID", said=str(bad))
        return await self._connect(asked, reader, writer)

    async def _connect(
        self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        line = await self._dialled(asked)
        if isinstance(line, str):
            return await _say(writer, line, f"{asked.host}:{asked.port}")
        there, back = line
        try:
            if asked.forwarded:
                back.write(asked.forwarded)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, back))
                both.create_task(self._pump(there, writer))
        except* OSError:
            pass  # either went away, or there was too much
        finally:
            back.transport.abort()

    async def _refuse(
        self, writer: asyncio.StreamWriter, host: str, port: int, *, why: str, said: str = ""
    ) -> None:
        self._note(host, port, why)
        await _say(writer, why, said)

    async def _dialled(self, asked: Asked) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | str:
        """A line to a checked address, or why there is none."""
        why = hosts.why_not(asked.host, asked.port, self.allowed)
        if not why and self.left <= 0:
            why = "NETWORK_TOO_MUCH"
        if why:
            return self._note(asked.host, asked.port, why)
        try:
            addresses = await self._loop.run_in_executor(self._names, self._checked, asked.host, asked.port)
        except Refused as no:
            unknown = no.code == "OUTBOUND_FAILED"
            code = "NETWORK_NAME_UNKNOWN" if unknown else "NETWORK_ADDRESS_REFUSED"
            return self._note(asked.host, asked.port, code)
        for address in addresses[:_ADDRESSES]:
            with contextlib.suppress(OSError, TimeoutError):
                line = await asyncio.wait_for(asyncio.open_connection(address, asked.port), _DIAL_S)
                self._note(asked.host, asked.port, "")
                return line
        return self._note(asked.host, asked.port, "NETWORK_UNREACHABLE")

    def _checked(self, host: str, port: int) -> list[str]:
        return list(self.resolve(host, port)) if self.resolve else []

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            self.left -= len(piece)
            if self.left < 0:
                self._note("*", 0, "NETWORK_TOO_MUCH")
                raise ConnectionAbortedError
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    def _note(self, host: str, port: int, why: str) -> str:
        dial = Dial(host[:255], port, not why, why, 0)
        if dial not in self._counts and len(self._counts) >= _DIALS:
            dial = Dial("*", 0, not why, why, 0)
        self._counts[dial] = self._counts.get(dial, 0) + 1
        return why


async def _close(writer: asyncio.StreamWriter) -> None:
    """Until it is: a script that reads nothing would else keep a descriptor of ours that nobody counts."""
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), _FAREWELL_S)
    except OSError:
        writer.transport.abort()
    except asyncio.CancelledError:
        writer.transport.abort()
        raise


async def _say(writer: asyncio.StreamWriter, code: str, what: str) -> None:
    writer.write(answer(400 if code == "NETWORK_REQUEST_INVALID" else 403, code, what))
    await asyncio.wait_for(writer.drain(), _HEAD_S)


async def _first(work: Coroutine[Any, Any, Any], stop: asyncio.Future[Any]) -> Any:
    """What the work gives, or None where the end comes first."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        return task.result()
    task.cancel()
    return None
