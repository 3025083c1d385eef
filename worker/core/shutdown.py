"""Graceful shutdown of a worker's child: it finishes its run and claims no other."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def defer_sigterm() -> Iterator[Callable[[], bool]]:
    """Defers SIGTERM within the block; yields a function that returns whether it was received."""
    received: list[int] = []
    previous_handler = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
