"""Counts requests per minute: in this process, and in batches in a store that all processes share.

Each request costs one look-up in memory. A process adds a caller's requests to the store once they reach a
fraction of the remaining limit. If the limit is high, a few requests therefore cause no write. Counts near
the limit are exact.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic, time
from zlib import crc32

from django.conf import settings
from django.db import Error

from registry.rates import sql

WINDOW_S = 60
FRACTION = 32  # a process counts at most 1/32 of the remaining requests before it shares the count
MAX_CALLERS = 10_000  # counted in memory
STORE_PAUSE_S = 5.0  # after the store failed; until then, each process counts alone
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RateStatus:
    limit: int
    count: int
    reset_s: int  # seconds until the count starts again

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.count)


@dataclass
class _Window:
    ends_at: int  # Unix seconds
    shared: int = 0  # requests of all processes, when the count was last shared
    unshared: int = 0  # requests of this process since then
    lock: Lock = field(default_factory=Lock)  # held while the count is shared


class RateCounter:
    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.windows: dict[str, _Window] = {}
        self.lock = Lock()
        self.store_from = self.sweep_from = 0.0  # monotonic times

    def count(self, name: str, limit: int) -> RateStatus:
        """Counts one request in the current minute. At the limit, counts nothing and returns a ``count``
        above ``limit``; the caller must then refuse the request.
        """
        now = time()
        with self.lock:
            window = self._window(name, now)
            reset_s = window.ends_at - int(now)
            if window.shared + window.unshared >= limit:
                return RateStatus(limit, limit + 1, reset_s)
            window.unshared += 1
        if _is_due(window, limit):
            with window.lock:  # other threads wait, or they would use up the limit in the meantime
                if _is_due(window, limit):
                    self._share(name, window)
        return RateStatus(limit, window.shared + window.unshared, reset_s)

    def _window(self, name: str, now: float) -> _Window:
        """The name's current window, created if necessary; the oldest one is dropped above MAX_CALLERS.
        Windows of different names end at different times of the minute.
        """
        window = self.windows.get(name)
        if window is None or window.ends_at <= now:
            self.windows.pop(name, None)
            while len(self.windows) >= MAX_CALLERS:
                del self.windows[next(iter(self.windows))]
            phase = crc32(name.encode()) % WINDOW_S
            window = _Window((int(now) - phase) // WINDOW_S * WINDOW_S + phase + WINDOW_S)
            self.windows[name] = window
        return window

    def _share(self, name: str, window: _Window) -> None:
        """Adds this process's requests to the shared count. If the store fails, this process counts alone for
        STORE_PAUSE_S seconds.
        """
        number, total = window.unshared, None
        if monotonic() >= self.store_from:
            try:
                total = self._add(f"{self.prefix}{name}:{window.ends_at}", number, window.ends_at)
            except (Error, OSError) as error:
                _log.warning("rate limits are counted per process, because the store failed: %s", error)
                self.store_from = monotonic() + STORE_PAUSE_S
        if total is not None:
            with self.lock:
                window.shared, window.unshared = total, window.unshared - number

    def _add(self, key: str, number: int, ends_at: int) -> int:
        if settings.REDIS_URL:
            from registry.rates import redis_store  # slow to import, and not always used

            return redis_store.add(key, number, ends_at)
        if monotonic() >= self.sweep_from:
            self.sweep_from = monotonic() + WINDOW_S
            sql.delete_ended(int(time()))
        return sql.add(key, number, ends_at)


def _is_due(window: _Window, limit: int) -> bool:
    return window.unshared >= max(1, (limit - window.shared) // FRACTION)


counter = RateCounter()
