"""The narrower way out where no namespace is: the run never has a socket of the network, it only believes so.

script ── socket() ──► the kernel asks this process ──► one end of a pair, whose other end is served as ever

Whatever address it then connects to, it speaks to ``Job.served``: no packet leaves, and no port is opened
that others on the machine could reach.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import select
import socket
import struct
from contextlib import suppress
from typing import Any

from worker.sandbox.egress import HEAD_BYTES
from worker.sandbox.served import Server

_RECEIVE, _SEND, _ADD = 0xC050_2100, 0xC018_2101, 0x4018_2103  # SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ADDFD
_QUESTION = struct.Struct("=QII iIQ 6Q")  # id, process, flags; number, architecture, place, arguments
_ANSWER, _REFUSAL = struct.Struct("=QIIII"), struct.Struct("=QqiI")
_KIND = 7  # of the question's fields: the call's second argument
_ANSWER_WITH_IT = 2  # SECCOMP_ADDFD_FLAG_SEND
_NOT_BLOCKING, _CLOSED_ON_EXEC = 0x800, 0x8_0000  # of the kind of socket that is asked for


class Handed(Server):
    """Answers each ``socket()`` of the run; what was handed out is where the kernel asks."""

    async def _attend(self, questions: int, stop: asyncio.Future[Any]) -> None:
        met: set[asyncio.Task[None]] = set()

        def answer() -> None:
            found = _found(questions)
            if found & select.POLLHUP:  # nobody is left who could ask
                self._loop.remove_reader(questions)
            elif found and (ours := _answered(questions, give=len(met) < self.most)):
                task = self._loop.create_task(self._meet_at(ours))
                met.add(task)
                task.add_done_callback(met.discard)

        self._loop.add_reader(questions, answer)
        try:
            await stop
        finally:
            self._loop.remove_reader(questions)
            os.close(questions)

    async def _meet_at(self, ours: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=HEAD_BYTES)
        await self._meet(reader, writer)


def _found(questions: int) -> int:
    """Looked at first: to wait for a question would hold up everybody's answers.

    0 where whoever asked was ended, or interrupted, before he was heard: others may still ask.
    """
    poll = select.poll()
    poll.register(questions, select.POLLIN)
    return next((event for _descriptor, event in poll.poll(0)), 0)


def _answered(questions: int, *, give: bool) -> socket.socket | None:
    """Our end of the pair whose other end the asking process has now; None where it got none."""
    question = bytearray(_QUESTION.size)
    try:
        fcntl.ioctl(questions, _RECEIVE, question)
    except OSError:
        return None  # who asked went away
    fields = _QUESTION.unpack(question)
    number, kind = fields[0], fields[_KIND]
    try:
        if give:
            return _given(questions, number, kind)
    except OSError:
        pass  # who asked went away, or this process has no descriptor left
    with suppress(OSError):
        fcntl.ioctl(questions, _SEND, bytearray(_REFUSAL.pack(number, 0, -errno.EMFILE, 0)))
    return None


def _given(questions: int, number: int, kind: int) -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setblocking(not kind & _NOT_BLOCKING)
        given = _ANSWER.pack(number, _ANSWER_WITH_IT, theirs.fileno(), 0, kind & _CLOSED_ON_EXEC)
        try:
            fcntl.ioctl(questions, _ADD, given)
        except OSError:
            ours.close()
            raise
    return ours
