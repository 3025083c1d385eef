"""Stores blobs as files on the local disk."""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from registry.core.errors import UNAVAILABLE
from registry.storage.failures import FULL_ERRNO

log = logging.getLogger(__name__)
_PARTIAL_PREFIX = ".coming-"


@contextmanager
def _translate_errors(*passed: type[OSError]) -> Iterator[None]:
    """Context manager and decorator that turns an OSError into UNAVAILABLE and logs it. Raises errors of a
    full disk and exceptions of the classes in ``passed`` unchanged.
    """
    try:
        yield
    except passed:
        raise
    except OSError as error:
        if error.errno in FULL_ERRNO:
            raise
        log.warning("The storage can't be used: %s", error)
        raise UNAVAILABLE.refusal() from error


class DiskBackend:
    """Stores blobs as ``<folder>/ab/cd/<key>``, readable only by the site's system user."""

    @_translate_errors()
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def open_writer(self) -> Iterator[_FileWriter]:
        writer = _FileWriter(self, self.folder / f"{_PARTIAL_PREFIX}{secrets.token_hex(16)}")
        try:
            yield writer
        finally:
            writer.close()

    @_translate_errors(FileNotFoundError)
    def open(self, key: str) -> BinaryIO:
        return open(self.path(key), "rb")

    def exists(self, key: str) -> bool:
        return self.path(key).is_file()

    @_translate_errors()
    def is_reachable(self) -> bool:
        return any(self.folder.glob("??/??"))

    def local_path(self, key: str) -> Path | None:
        path = self.path(key)
        return path if path.is_file() else None

    def signed_url(self, key: str, *, content_type: str, disposition: str, for_s: int) -> str:
        raise NotImplementedError

    def older_than(self, age: timedelta) -> Iterator[tuple[str, int]]:
        for path in self.folder.glob("??/??/*"):
            with suppress(FileNotFoundError):
                status = path.stat()
                if _age(status) >= age:
                    yield path.name, status.st_size

    def remove(self, key: str, age: timedelta) -> bool:
        path = self.path(key)
        with self.locked(), suppress(FileNotFoundError):
            if _age(path.stat()) >= age:
                path.unlink()
                return True
        return False

    def remove_leftovers(self, age: timedelta) -> int:
        removed = 0
        for path in self.folder.glob(f"{_PARTIAL_PREFIX}*"):
            with suppress(FileNotFoundError):
                if _age(path.stat()) >= age:
                    path.unlink()
                    removed += 1
        return removed

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:4] / key

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Context manager that locks the blobs against other processes, so that no blob is stored again
        between its age check and its removal.
        """
        lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


class _FileWriter:
    """Writes a hidden file, syncs it, and renames it to the path of its key. Closing deletes a file that was
    not committed.
    """

    @_translate_errors()
    def __init__(self, disk: DiskBackend, path: Path) -> None:
        self.disk, self.path = disk, path
        self.file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")

    @_translate_errors()
    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)

    @_translate_errors()
    def commit(self, key: str) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        target = self.disk.path(key)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.disk.locked():
            os.replace(self.path, target)
        _fsync_dir(target.parent)

    def close(self) -> None:
        try:
            self.file.close()  # writes what is buffered, which fails on a full disk
        finally:
            self.path.unlink(missing_ok=True)


def _age(status: os.stat_result) -> timedelta:
    return timedelta(seconds=time.time() - status.st_mtime)


def _fsync_dir(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
