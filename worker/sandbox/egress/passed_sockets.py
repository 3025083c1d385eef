"""The static server for tier ``landlock``: a run without a network namespace gets no network sockets.

script ── socket() ──► the kernel notifies this process ──► one end of a socket pair; the server has the other

This server answers regardless of the address to which the script connects. The script itself can't send
packets, and no port is opened that other processes could use.
"""

import asyncio
import errno
import fcntl
import os
import select
import socket
import struct
from contextlib import suppress
from typing import Any

from worker.sandbox.egress.proxy import MAX_HEAD_BYTES
from worker.sandbox.egress.static_server import StaticServer

_RECEIVE, _SEND, _ADD = 0xC050_2100, 0xC018_2101, 0x4018_2103  # SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ADDFD
# Id, process, flags; then number, architecture, address and arguments of the call.
_NOTIFICATION = struct.Struct("=QII iIQ 6Q")
_ANSWER, _REFUSAL = struct.Struct("=QIIII"), struct.Struct("=QqiI")
_KIND = 7  # field of the notification: the call's second argument
_SEND_WITH_DESCRIPTOR = 2  # SECCOMP_ADDFD_FLAG_SEND
_NOT_BLOCKING, _CLOSED_ON_EXEC = 0x800, 0x8_0000  # flags of the requested socket kind


class PassedSocketServer(StaticServer):
    """Supplies a connected socket for each ``socket()`` call of the run, and serves its other end.

    Instead of a listening socket, the sandbox passes a descriptor that reports the calls.
    """

    async def _serve_listener(self, notify_fd: int, stop: asyncio.Future[Any]) -> None:
        tasks: set[asyncio.Task[None]] = set()

        def answer() -> None:
            events = _poll_events(notify_fd)
            if events & select.POLLHUP:  # no process of the run is left
                self._loop.remove_reader(notify_fd)
            elif events and (ours := _answer(notify_fd, give=len(tasks) < self.max_connections)):
                task = self._loop.create_task(self._serve_socket(ours))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

        self._loop.add_reader(notify_fd, answer)
        try:
            await stop
        finally:
            self._loop.remove_reader(notify_fd)
            os.close(notify_fd)

    async def _serve_socket(self, ours: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_HEAD_BYTES)
        await self._serve_connection(reader, writer)


def _poll_events(notify_fd: int) -> int:
    """Poll events of the notification descriptor; 0 if no call is pending because its process has ended.

    Without this check, reading the descriptor could block the event loop.
    """
    poll = select.poll()
    poll.register(notify_fd, select.POLLIN)
    return next((event for _descriptor, event in poll.poll(0)), 0)


def _answer(notify_fd: int, *, give: bool) -> socket.socket | None:
    """Answers a ``socket()`` call with a socket, or with EMFILE unless ``give``.

    Returns the other end of the supplied socket, or None.
    """
    notification = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(notify_fd, _RECEIVE, notification)
    except OSError:
        return None  # the caller has ended
    fields = _NOTIFICATION.unpack(notification)
    number, kind = fields[0], fields[_KIND]
    try:
        if give:
            return _supply_socket(notify_fd, number, kind)
    except OSError:
        pass  # the caller has ended, or this process has no descriptor left
    with suppress(OSError):
        fcntl.ioctl(notify_fd, _SEND, bytearray(_REFUSAL.pack(number, 0, -errno.EMFILE, 0)))
    return None


def _supply_socket(notify_fd: int, number: int, kind: int) -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setblocking(not kind & _NOT_BLOCKING)
        request = _ANSWER.pack(number, _SEND_WITH_DESCRIPTOR, theirs.fileno(), 0, kind & _CLOSED_ON_EXEC)
        try:
            fcntl.ioctl(notify_fd, _ADD, request)
        except OSError:
            ours.close()
            raise
    return ours
