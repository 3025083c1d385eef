"""A worker's child that is told to end while it has a run: it ends the run first, and claims no other."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """Within, SIGTERM is only noted; what is yielded says whether it came."""
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:
        yield lambda: bool(told)
    finally:
        signal.signal(signal.SIGTERM, before)
