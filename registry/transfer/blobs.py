"""Copies blobs by digest; blobs that the target already has are skipped, so that a copy can be resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import BinaryIO, Protocol

from registry.storage.backend import BlobBackend

_CHUNK = 2**20  # bytes
_THREADS = 4
_ALL = timedelta(0)


class BlobSource(Protocol):
    """The interface of a source of blobs: a storage or a backup file."""

    def keys(self) -> Iterator[str]: ...

    def open(self, key: str) -> BinaryIO: ...


@dataclass
class BlobTotals:
    """The counts of a copy: blobs, bytes and damaged blobs."""

    blobs: int = 0  # that source and target have now
    bytes: int = 0  # that were copied
    damaged: list[str] = field(default_factory=list)  # keys whose content has another hash; not copied


class StorageSource:
    """Lets ``copy_blobs`` read from the blob storage of an installation."""

    def __init__(self, storage: BlobBackend) -> None:
        self.storage = storage

    def keys(self) -> Iterator[str]:
        return (key for key, _size in self.storage.older_than(_ALL))

    def open(self, key: str) -> BinaryIO:
        return self.storage.open(key)


def copy_blobs(source: BlobSource, target: BlobBackend) -> Iterator[BlobTotals]:
    """Copies the missing blobs with a few threads. Yields the totals at the start and after each blob.

    A damaged blob is listed in the totals and not copied. A blob deleted during the copy is skipped.
    """
    present = {key for key, _size in target.older_than(_ALL)}
    totals = BlobTotals()
    missing = []
    for key in source.keys():  # noqa: SIM118 - not a mapping
        if key in present:
            totals.blobs += 1
        else:
            missing.append(key)
    yield totals
    with ThreadPoolExecutor(_THREADS) as pool:
        for key, size in zip(missing, pool.map(lambda key: _copy(key, source, target), missing), strict=True):
            if size is None:
                totals.damaged.append(key)
            elif size >= 0:
                totals.blobs, totals.bytes = totals.blobs + 1, totals.bytes + size
            yield totals


def _copy(key: str, source: BlobSource, target: BlobBackend) -> int | None:
    """Copies one blob and returns its size in bytes; -1 if it no longer exists, None if it is damaged."""
    sha256, size = hashlib.sha256(), 0
    try:
        file = source.open(key)
    except FileNotFoundError:
        return -1
    with file, target.open_writer() as writer:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            writer.write(chunk)
            size += len(chunk)
        if sha256.hexdigest() != key:
            return None
        writer.commit(key)
    return size
