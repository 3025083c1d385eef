"""Limits the wait for calls that may hang, such as requests to an unreachable service."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from django.db import connections

T = TypeVar("T")


class BoundedCall(Generic[T]):
    """Calls ``work`` in its own thread. Starts no other call while one hangs."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._last: Future[T] | None = None
        self._started = 0.0

    def start(self) -> Future[T]:
        """The future of the running call, or of a new one.

        Its ``result(timeout)`` raises TimeoutError if the call takes longer.
        """
        with self._lock:
            if self._last is None or self._last.done():
                self._last, self._started = Future(), time.monotonic()
                threading.Thread(target=self._call, args=(self._last,), daemon=True, name="check").start()
            return self._last

    def hangs_since_s(self) -> float:
        return time.monotonic() - self._started

    def _call(self, future: Future[T]) -> None:
        try:
            result = self._work()
        except BaseException as error:
            connections.close_all()
            future.set_exception(error)
        else:
            connections.close_all()
            future.set_result(result)
