"""Keeps built repositories and answers in memory, and builds one repository at a time in each process."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

from registry.facades.git import upload_pack
from registry.facades.git.errors import GIT_BUSY
from registry.facades.git.objects import BuiltRepository

MAX_BYTES = 48 * 1024 * 1024  # of all repositories and answers of a process
WAIT_S = 20.0  # for the repository that is built at the moment


class _Kept:
    """A cache of at most MAX_BYTES that removes the least recently used values first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, tuple[BuiltRepository | bytes, int]] = OrderedDict()
        self._size = 0

    def get(self, key: str) -> BuiltRepository | bytes | None:
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
                return self._rows[key][0]
        return None

    def add(self, key: str, value: BuiltRepository | bytes, size: int) -> None:
        if size > MAX_BYTES // 2:
            return
        with self._lock:
            self._size += size - self._rows.pop(key, (b"", 0))[1]
            self._rows[key] = (value, size)
            while self._size > MAX_BYTES:
                self._size -= self._rows.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._rows.clear()
            self._size = 0


_kept = _Kept()
_building = threading.Lock()


def forget() -> None:
    _kept.clear()


def repository(key: str, build: Callable[[], BuiltRepository]) -> BuiltRepository:
    """The repository with this key, built if it is not kept. Raises GIT_BUSY if other repositories are being
    built for longer than WAIT_S, and the errors of ``build``.
    """
    found = _kept.get(key)
    if isinstance(found, BuiltRepository):
        return found
    if not _building.acquire(timeout=WAIT_S):
        raise GIT_BUSY.refusal()
    try:
        found = _kept.get(key)
        if not isinstance(found, BuiltRepository):
            found = build()
            _kept.add(key, found, found.size)
        return found
    finally:
        _building.release()


def answer(found: BuiltRepository, body: bytes) -> bytes:
    """Like ``upload_pack.answer``, but keeps answers to clones, because many clients send the same body. Also
    raises GIT_BUSY like ``repository``.
    """
    key = f"{found.key}:{hashlib.sha256(body).hexdigest()}"
    kept = _kept.get(key)
    if isinstance(kept, bytes):
        return kept
    if not _building.acquire(timeout=WAIT_S):
        raise GIT_BUSY.refusal()
    try:
        data = upload_pack.answer(found.repo, body)
    finally:
        _building.release()
    if b"have " not in body:
        _kept.add(key, data, len(data))
    return data
