"""A small in-process cache for values that are slow to compute and never change."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """At most ``max_entries`` values by key; the value that was added first is dropped first."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries, self._values, self._lock = max_entries, dict[Hashable, T](), Lock()

    def get(
        self, key: Hashable, compute: Callable[[], T], *, keep: Callable[[T], bool] = lambda value: True
    ) -> T:
        """The cached value, otherwise the computed one, which is cached if ``keep`` returns True for it."""
        if key in self._values:
            return self._values[key]
        value = compute()
        if not keep(value):
            return value
        with self._lock:
            while len(self._values) >= self._max_entries:
                del self._values[next(iter(self._values))]
            self._values[key] = value
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
