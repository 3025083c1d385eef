"""Serves the request channel of a run: answers a script's requests to the worker. Each request is a line of
JSON.

A thread per channel reads and writes, so that neither many requests nor long answers delay stdout and stderr.
"""

import os
import select
import threading
from types import TracebackType
from typing import Self

from worker.sandbox.policy import RequestHandler

MAX_REQUEST_BYTES = 1_048_576  # limit per line; a longer line closes the channel
MAX_REQUESTS = 1_000  # limit per run; after them the channel is closed
REQUEST_FD, ANSWER_FD = 4, 5  # descriptors in the script; 3 is the result channel of execute()
ENVIRONMENT = {"SKILLQUAY_REQUEST_FDS": f"{REQUEST_FD},{ANSWER_FD}"}
_READ_BYTES = 65_536
_POLL_MS = 100


class ChannelServer:
    """Context manager that answers requests in a thread; its exit does not wait for an answer in progress.

    The thread closes both descriptors when it ends: after the ``with`` block, or when the script closes its
    end. It also ends after MAX_REQUESTS requests or a line that is too long.
    """

    def __init__(self, handler: RequestHandler, read_fd: int, write_fd: int) -> None:
        self.handler, self.read_fd, self.write_fd = handler, read_fd, write_fd
        self.stopped = threading.Event()
        self.buffer = bytearray()
        # Number of bytes known to have no line end, so that a line sent byte by byte is searched once.
        self.searched = 0
        self.remaining = MAX_REQUESTS
        self._thread = threading.Thread(target=self._serve, name="skillquay-channel", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()

    # Only the thread closes the descriptors, because a freed number could already belong to another run.

    def _serve(self) -> None:
        try:
            while (line := self._next_line()) is not None and self._write(self._answer(line)):
                self.remaining -= 1
                if not self.remaining:
                    return
        finally:
            os.close(self.read_fd)
            os.close(self.write_fd)

    def _answer(self, line: bytes) -> bytes:
        return self.handler(line).replace(b"\n", b" ") + b"\n"

    def _next_line(self) -> bytes | None:
        while not self.stopped.is_set():
            end = self.buffer.find(b"\n", self.searched)
            if end >= 0:
                line = bytes(self.buffer[:end])
                del self.buffer[: end + 1]
                self.searched = 0
                if line.strip():
                    return line
            elif len(self.buffer) > MAX_REQUEST_BYTES or not self._read_more():
                return None
        return None

    def _read_more(self) -> bool:
        """Waits up to 100 ms for more bytes and buffers them; False only if the script has closed its end."""
        if not _ready(self.read_fd, select.POLLIN):
            return True
        self.searched = len(self.buffer)
        chunk = os.read(self.read_fd, _READ_BYTES)
        # Blank lines are not requests and need no memory.
        self.buffer += chunk if self.buffer else chunk.lstrip()
        return bool(chunk)

    def _write(self, answer: bytes) -> bool:
        """Writes an answer; returns False if the server was stopped before all of it was written."""
        unsent = memoryview(answer)
        while unsent and not self.stopped.is_set():
            if _ready(self.write_fd, select.POLLOUT):
                try:
                    unsent = unsent[os.write(self.write_fd, unsent[:4096]) :]
                except (BlockingIOError, BrokenPipeError):
                    if self.stopped.wait(_POLL_MS / 1000):
                        return False
        return not unsent


def _ready(descriptor: int, event: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(_POLL_MS))


def create_pipes() -> tuple[int, int, int, int]:
    """Creates two pipes; returns four descriptors: the script's ends, then the worker's.

    The script writes requests to the first and reads answers from the second. The worker reads from the third
    and writes to the fourth; these two do not block.
    """
    read_fd, request_fd = os.pipe()
    answer_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    os.set_blocking(write_fd, False)
    return request_fd, answer_fd, read_fd, write_fd
