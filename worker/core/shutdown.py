"""Graceful shutdown of a worker's child process, which finishes its run and claims no other."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def defer_sigterm() -> Iterator[Callable[[], bool]]:
    """Ignores SIGTERM within the block; yields a function that returns whether the signal was received.

    The signal is not raised again: the caller must stop by itself. Works in the main thread only.
    """
    received: list[int] = []
    previous_handler = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
