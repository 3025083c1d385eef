"""Collects values in memory and writes them once a second, so that read requests don't write to the database.

A crash loses at most the last second. Only web processes run the writer; other processes write immediately.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar

from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

PAUSE_S = 1.0
MAX_PENDING = 100_000  # values of a batch that are kept while the database does not answer
_log = logging.getLogger(__name__)

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_batches: list[Batch[Any, Any]] = []


class Batch(Generic[Key, Value]):
    """Collects the first value of each key until the next write. ``write`` receives the values by key."""

    def __init__(self, write: Callable[[Mapping[Key, Value]], object]) -> None:
        self.write = write
        self.pending: dict[Key, Value] = {}
        self.lock = Lock()
        _batches.append(self)

    def add(self, key: Key, value: Value) -> None:
        """Keeps the value until the next write, without a database call. If the writer is not running, writes
        the value immediately and raises the database's error.
        """
        if writer.is_running:
            with self.lock:
                self.pending.setdefault(key, value)
        else:
            self.write({key: value})

    def has(self, key: Key) -> bool:
        """Whether a value of this key waits for the next write, so that another one would be ignored."""
        return key in self.pending

    def flush(self) -> None:
        """Writes the pending values, or keeps them if the database does not respond."""
        with self.lock:
            values, self.pending = self.pending, {}
        if not values:
            return
        try:
            self.write(values)
        except (OperationalError, InterfaceError):
            _log.warning("%d values are written later", len(values), exc_info=True)
            self._restore(values)
        except Error:
            _log.exception("%d values were not written", len(values))

    def _restore(self, values: Mapping[Key, Value]) -> None:
        with self.lock:
            kept = {**self.pending, **values}
            self.pending = dict(list(kept.items())[:MAX_PENDING])


class Writer:
    """A thread that flushes all batches once a second, from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self.is_running = False
        self.stopping = Event()
        self.thread: Thread | None = None

    def start(self) -> None:
        self.stopping.clear()
        self.thread = Thread(target=self._run, name="batched-writes", daemon=True)
        self.is_running = True
        self.thread.start()

    def stop(self) -> None:
        """Writes all pending values and ends the thread. Later values are written immediately."""
        self.is_running = False
        self.stopping.set()
        if self.thread:
            self.thread.join()

    def _run(self) -> None:
        while not self.stopping.wait(PAUSE_S):
            close_old_connections()
            flush()
        flush()
        connection.close()


def flush() -> None:
    """Writes all pending values of this process now. Call it before you read counts that must be current."""
    for batch in _batches:
        batch.flush()


writer = Writer()
