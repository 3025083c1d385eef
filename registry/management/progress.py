"""Prints the progress of a long command to standard error, at most once per second."""

import sys
import time
from typing import TextIO

_SECONDS = 1.0


class ProgressPrinter:
    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._printed_at = time.monotonic()

    def __call__(self, name: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._printed_at >= _SECONDS:
            self._printed_at = now
            print(f"{name}: {done}" + (f" of {total}" if total else ""), file=self.stream, flush=True)
