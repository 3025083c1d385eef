"""The door of a run: what its script asks of the worker, answered line by line beside its streams.

A thread of its own reads and writes, so that neither a flood nor a long answer holds up the reading loop.
"""

from __future__ import annotations

import os
import select
import threading
from types import TracebackType
from typing import Self

from worker.sandbox.policy import Door

REQUEST_BYTES = 1_048_576  # of one line; a longer one shuts the door
REQUESTS = 1_000  # of one run; after them the door is shut
ASKING, ANSWERING = 4, 5  # the script's descriptors; the channel of execute() is 3
ENVIRONMENT = {"SKILLQUAY_DOOR": f"{ASKING},{ANSWERING}"}
_PIECE = 65_536
_PATIENCE_MS = 100


class Doorkeeper:
    """Serves while it is entered. It never waits for its own thread: that ends with the answer under way."""

    def __init__(self, door: Door, asking: int, answering: int) -> None:
        self.door, self.asking, self.answering = door, asking, answering
        self.stopped = threading.Event()
        self.heard = bytearray()
        self.searched = 0  # bytes of it without an end of line: a line that comes byte by byte is read once
        self.left = REQUESTS
        self._thread = threading.Thread(target=self._serve, name="skillquay-door", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()

    # its thread, which alone closes the descriptors: a number that is free may be another run's by then

    def _serve(self) -> None:
        try:
            while (line := self._line()) is not None and self._say(self._answer(line)):
                self.left -= 1
                if not self.left:
                    return
        finally:
            os.close(self.asking)
            os.close(self.answering)

    def _answer(self, line: bytes) -> bytes:
        return self.door(line).replace(b"\n", b" ") + b"\n"

    def _line(self) -> bytes | None:
        """The next request that is not blank; None where no more will be answered."""
        while not self.stopped.is_set():
            end = self.heard.find(b"\n", self.searched)
            if end >= 0:
                line = bytes(self.heard[:end])
                del self.heard[: end + 1]
                self.searched = 0
                if line.strip():
                    return line
            elif len(self.heard) > REQUEST_BYTES or not self._hear():
                return None
        return None

    def _hear(self) -> bool:
        """False where the script has closed its end."""
        if not _ready(self.asking, select.POLLIN):
            return True
        self.searched = len(self.heard)
        piece = os.read(self.asking, _PIECE)
        self.heard += piece if self.heard else piece.lstrip()  # blanks are no request, and cost nothing
        return bool(piece)

    def _say(self, answer: bytes) -> bool:
        """False where the script went away, or reads no more when the run has ended."""
        unsaid = memoryview(answer)
        while unsaid and not self.stopped.is_set():
            if _ready(self.answering, select.POLLOUT):
                try:
                    unsaid = unsaid[os.write(self.answering, unsaid[:4096]) :]
                except (BlockingIOError, BrokenPipeError):
                    if self.stopped.wait(_PATIENCE_MS / 1000):
                        return False
        return not unsaid


def _ready(descriptor: int, event: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(_PATIENCE_MS))


def opened() -> tuple[int, int, int, int]:
    """Two pipes: the script's ends to ask and to be answered, then the worker's to hear and to say."""
    hearing, asking = os.pipe()
    answering, saying = os.pipe()
    os.set_blocking(hearing, False)
    os.set_blocking(saying, False)
    return asking, answering, hearing, saying
