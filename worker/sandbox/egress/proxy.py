"""The proxy of one run: connects scripts to the hosts of the run's allowlist, and records every decision.

script ── CONNECT, GET ──► 127.0.0.1:3128 in the run's own network ──► this process ──► the checked address

A process inside the sandbox opens the listening socket and passes it to this process. The run has no other
way to the network.
"""

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from registry.http_client.errors import OUTBOUND_FAILED
from registry.packages.problems import Refusal
from worker.sandbox import errors
from worker.sandbox.egress import allowed_hosts
from worker.sandbox.egress.proxy_requests import BadRequest, ProxyRequest, read_head, refusal_response
from worker.sandbox.policy import HostAccess, Job

PORT = 3128
ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), f"http://127.0.0.1:{PORT}"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
    "NODE_USE_ENV_PROXY": "1",
}
MAX_HEAD_BYTES = 16_384
_HEAD_TIMEOUT_S, _CONNECT_TIMEOUT_S = 10.0, 10.0
_CLOSE_GRACE_S = 5.0  # limit for a script to read the rest of an answer
_MAX_ADDRESSES = 4  # number of addresses tried per name
_MAX_RECORDS = 200  # number of different decisions; further ones are counted together
_CHUNK_BYTES = 65_536


class AllowlistProxy:
    """Context manager that serves a run's proxy in a thread; ``decisions`` lists its decisions so far."""

    def __init__(self, job: Job, proxy_socket: socket.socket) -> None:
        self.resolve, self.proxy_socket = job.resolve, proxy_socket
        self.max_connections = job.limits.connections
        self.http_handler = job.http_handler
        self.allowed = allowed_hosts.parse_allowlist(job.network or ())
        self.bytes_left = job.limits.network_bytes
        self.open_connections = 0
        self._counts: dict[HostAccess, int] = {}
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._lookups = ThreadPoolExecutor(4, "skillquay-names")
        self._thread = threading.Thread(target=self._run, name="skillquay-egress", daemon=True)

    def __enter__(self) -> Self:
        self.proxy_socket.setblocking(False)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._lookups.shutdown(wait=False, cancel_futures=True)

    @property
    def decisions(self) -> tuple[HostAccess, ...]:
        return tuple(
            HostAccess(access.host, access.port, access.allowed, access.code, count)
            for access, count in self._counts.items()
        )

    # in the proxy's own thread

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
            listener = await _first(self._receive_listener(), stop)
            if listener is not None:
                await self._serve_listener(listener, stop)
        finally:
            stop.cancel()
            await self._end_all()

    async def _serve_listener(self, listener: int, stop: asyncio.Future[Any]) -> None:
        sock = socket.socket(fileno=listener)
        server = await asyncio.start_server(self._serve_connection, sock=sock, limit=MAX_HEAD_BYTES)
        await stop
        server.close()

    async def _receive_listener(self) -> int | None:
        """Receives the listening socket from the sandbox; None if the sandbox ends without passing one."""
        ready = asyncio.Event()
        self._loop.add_reader(self.proxy_socket, ready.set)
        try:
            await ready.wait()
            _message, descriptors, _flags, _address = socket.recv_fds(self.proxy_socket, 1, 1)
        except OSError:
            return None
        finally:
            self._loop.remove_reader(self.proxy_socket)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        return descriptors[0] if descriptors else None

    async def _end_all(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Serves one connection.

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            await self._serve_request(reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # the script closed the connection
        except asyncio.CancelledError:
            pass  # the run has ended; asyncio would log an error
        finally:
            await _close(writer)
            self.open_connections -= 1

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.open_connections > self.max_connections:
            return await self._refuse(writer, "*", 0, code=errors.NETWORK_TOO_MUCH.name)
        try:
            request = await asyncio.wait_for(read_head(reader), _HEAD_TIMEOUT_S)
        except BadRequest as error:
            return await self._refuse(
                writer, "", 0, code=errors.NETWORK_REQUEST_INVALID.name, detail=str(error)
            )
        return await self._connect(request, reader, writer)

    async def _connect(
        self, request: ProxyRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection = await self._open_connection(request)
        if isinstance(connection, str):
            return await _write_refusal(writer, connection, f"{request.host}:{request.port}")
        host_reader, host_writer = connection
        try:
            if request.forwarded:
                host_writer.write(request.forwarded)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, host_writer))
                both.create_task(self._pump(host_reader, writer))
        except* OSError:
            pass  # one side closed the connection, or the byte limit was reached
        finally:
            host_writer.transport.abort()

    async def _refuse(
        self, writer: asyncio.StreamWriter, host: str, port: int, *, code: str, detail: str = ""
    ) -> None:
        self._record(host, port, code)
        await _write_refusal(writer, code, detail)

    async def _open_connection(
        self, request: ProxyRequest
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | str:
        """Opens a connection to a checked address, or returns an error code; records the decision."""
        code = allowed_hosts.refusal_code(request.host, request.port, self.allowed)
        if not code and self.bytes_left <= 0:
            code = errors.NETWORK_TOO_MUCH.name
        if code:
            return self._record(request.host, request.port, code)
        try:
            addresses = await self._loop.run_in_executor(
                self._lookups, self._addresses, request.host, request.port
            )
        except Refusal as error:
            unknown = error.code == OUTBOUND_FAILED.name
            code = errors.NETWORK_NAME_UNKNOWN.name if unknown else errors.NETWORK_ADDRESS_REFUSED.name
            return self._record(request.host, request.port, code)
        for address in addresses[:_MAX_ADDRESSES]:
            with contextlib.suppress(OSError, TimeoutError):
                connection = await asyncio.wait_for(
                    asyncio.open_connection(address, request.port), _CONNECT_TIMEOUT_S
                )
                self._record(request.host, request.port, "")
                return connection
        return self._record(request.host, request.port, errors.NETWORK_UNREACHABLE.name)

    def _addresses(self, host: str, port: int) -> list[str]:
        return list(self.resolve(host, port)) if self.resolve else []

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            self.bytes_left -= len(chunk)
            if self.bytes_left < 0:
                self._record("*", 0, errors.NETWORK_TOO_MUCH.name)
                raise ConnectionAbortedError
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    def _record(self, host: str, port: int, code: str) -> str:
        access = HostAccess(host[:255], port, not code, code, 0)
        if access not in self._counts and len(self._counts) >= _MAX_RECORDS:
            access = HostAccess("*", 0, not code, code, 0)
        self._counts[access] = self._counts.get(access, 0) + 1
        return code


async def _close(writer: asyncio.StreamWriter) -> None:
    """Closes a connection within 5 seconds, so that scripts that don't read can't keep descriptors open."""
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), _CLOSE_GRACE_S)
    except OSError:
        writer.transport.abort()
    except asyncio.CancelledError:
        writer.transport.abort()
        raise


async def _write_refusal(writer: asyncio.StreamWriter, code: str, detail: str) -> None:
    writer.write(refusal_response(400 if code == errors.NETWORK_REQUEST_INVALID.name else 403, code, detail))
    await asyncio.wait_for(writer.drain(), _HEAD_TIMEOUT_S)


async def _first(work: Coroutine[Any, Any, Any], stop: asyncio.Future[Any]) -> Any:
    """Returns the result of ``work``; if ``stop`` is done first, cancels ``work`` and returns None."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        return task.result()
    task.cancel()
    return None
