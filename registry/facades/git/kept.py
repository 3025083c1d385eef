"""Keeps built repositories and answers in memory, and builds one repository at a time in each process.
Answers about a skill are also kept as blobs, so that a new process need not build its repository.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from registry.facades import built_files
from registry.facades.git import upload_pack
from registry.facades.git.errors import GIT_BUSY
from registry.facades.git.objects import BuiltRepository

MAX_BYTES = 48 * 1024 * 1024  # of all repositories and answers of a process
WAIT_S = 20.0  # for the repository that is built at the moment
_FORMAT = 2  # of the answers; another number builds all of them again
_AGENT = re.compile(rb" (?:agent|session-id)=[^\s]*")  # capabilities that do not change an answer


@dataclass(frozen=True)
class RepositorySource:
    """The key of a repository and the function that builds it; ``skill_id`` for the repository of a skill."""

    key: str
    build: Callable[[], BuiltRepository]
    skill_id: int | None = None


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


def advertisement(source: RepositorySource) -> bytes:
    """The references of the repository. Raises the errors of ``repository``."""
    return _stored(source, b"references", lambda found: upload_pack.advertisement(found.repo))


def answer(source: RepositorySource, body: bytes) -> bytes:
    """Like ``upload_pack.answer``. Answers to clones are kept, because many clients send the same body. Also
    raises the errors of ``repository``.
    """
    request = clone_request(body)
    if request is None:
        return _locked(
            repository(source.key, source.build), lambda found: upload_pack.answer(found.repo, body)
        )
    return _stored(source, request, lambda found: upload_pack.answer(found.repo, body))


def clone_request(body: bytes) -> bytes | None:
    """The body without the capabilities that do not change the answer; None if the client has commits.

    Reads only the first line, by its length: otherwise a body in which a capability hides other lines would
    be taken for the body of another client, which would then get the wrong pack.
    """
    if b"have " in body:
        return None
    try:
        size = int(body[:4], 16)
    except ValueError:
        return body
    if not 4 < size <= len(body):
        return body
    line = _AGENT.sub(b"", body[4:size])
    return b"%04x%b%b" % (len(line) + 4, line, body[size:])


def _stored(source: RepositorySource, request: bytes, build: Callable[[BuiltRepository], bytes]) -> bytes:
    """The answer to the request from memory, from a blob, or built, one at a time."""
    key = built_files.key_of("git", _FORMAT, source.key, request.hex())
    kept = _kept.get(key)
    if isinstance(kept, bytes):
        return kept
    data = built_files.read(key) if source.skill_id else None
    if data is None:
        data = _locked(repository(source.key, source.build), build)
        if source.skill_id:
            built_files.keep("git", key, data, skill_id=source.skill_id, source=source.key)
    _kept.add(key, data, len(data))
    return data


def _locked(found: BuiltRepository, build: Callable[[BuiltRepository], bytes]) -> bytes:
    if not _building.acquire(timeout=WAIT_S):
        raise GIT_BUSY.refusal()
    try:
        return build(found)
    finally:
        _building.release()
