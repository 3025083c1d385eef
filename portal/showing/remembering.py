"""What is dear to make and never changes, such as what is drawn from a version's bytes, is kept a while."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """At most ``most`` values by key, the one that was made first forgotten first."""

    def __init__(self, most: int) -> None:
        self._most, self._values, self._lock = most, dict[Hashable, T](), Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        if key in self._values:
            return self._values[key]
        value = make()
        with self._lock:
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = value
        return value
