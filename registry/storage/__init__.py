"""Content by its SHA-256: stored once, never changed, on this machine's disk or in S3.

A blob is written before the row that names it. What no row names is swept when it is older than an hour,
so that content on its way to its row is never taken away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from django.conf import settings

from registry.packages.problems import refuse
from registry.storage.disk import Disk
from registry.storage.place import Incoming, Place

GRACE = timedelta(hours=1)

_references: list[Callable[[], Iterable[str]]] = []


@dataclass(frozen=True)
class Stored:
    digest: str  # "sha256:…"
    size: int  # bytes


@dataclass(frozen=True)
class Swept:
    blobs: int
    bytes: int
    leftovers: int  # unfinished writes of processes that died


def store(data: bytes) -> str:
    """Keeps the bytes and answers their digest; bytes that are there already become young again."""
    return store_stream([data], limit=len(data)).digest


def store_stream(chunks: Iterable[bytes], *, limit: int) -> Stored:
    """Keeps a stream of at most ``limit`` bytes without holding it in memory; BLOB_TOO_LARGE past that."""
    hashed, size = hashlib.sha256(), 0
    with place().incoming() as incoming:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise refuse("BLOB_TOO_LARGE", limit=limit)
            hashed.update(chunk)
            incoming.write(chunk)
        incoming.keep_as(hashed.hexdigest())
    return Stored(f"sha256:{hashed.hexdigest()}", size)


def read(digest: str) -> bytes:
    """All bytes of a blob, which are what their digest says or refused as BLOB_MISSING."""
    with open_blob(digest) as file:
        data = file.read()
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise refuse("BLOB_MISSING", digest=digest)
    return data


def open_blob(digest: str) -> BinaryIO:
    """The blob as a file to read, closed by the caller."""
    try:
        return place().open(_key(digest))
    except FileNotFoundError:
        raise refuse("BLOB_MISSING", digest=digest) from None


def exists(digest: str) -> bool:
    return place().exists(_key(digest))


def local_path(digest: str) -> Path | None:
    """Where the blob lies on this machine; None where it lies elsewhere."""
    return place().local_path(_key(digest))


def register_references(provider: Callable[[], Iterable[str]]) -> None:
    """Names another source of digests that are in use; called once, when its app is ready."""
    if provider not in _references:
        _references.append(provider)


def sweep(*, grace: timedelta = GRACE) -> Swept:
    """Takes away the blobs that nothing names and the leftovers of writes that died, older than ``grace``."""
    here = place()
    old = list(here.older_than(grace))  # listed before the references: a row made meanwhile is among them
    named = {_key(digest) for provider in _references for digest in provider()}
    sizes = [size for key, size in old if key not in named and here.remove(key, grace)]
    return Swept(blobs=len(sizes), bytes=sum(sizes), leftovers=here.remove_leftovers(grace))


def discard(digests: Iterable[str]) -> int:
    """Removes those that nothing names, young ones too: the caller holds off whoever might name them now."""
    keys = {_key(digest) for digest in digests}
    named = {_key(digest) for provider in _references for digest in provider()} if keys else set()
    here = place()
    return sum(here.remove(key, timedelta(0)) for key in keys - named)


def digests() -> Iterator[str]:
    """Every digest that is stored."""
    return (f"sha256:{key}" for key, _ in place().older_than(timedelta(0)))


def place() -> Place:
    """Where this site keeps its blobs."""
    if not settings.STORAGE_URL:
        return Disk(Path(settings.SKILLQUAY_VAR) / "blobs")
    from registry.storage.s3 import Bucket  # boto3 is slow to import and needed by few

    parts = urlsplit(settings.STORAGE_URL)
    return Bucket(parts.netloc, parts.path.strip("/"))


def _key(digest: str) -> str:
    algorithm, _, key = digest.partition(":")
    if algorithm != "sha256" or len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise refuse("BLOB_MISSING", digest=digest)
    return key


__all__ = [
    "Incoming",
    "Place",
    "Stored",
    "Swept",
    "digests",
    "discard",
    "exists",
    "local_path",
    "open_blob",
    "place",
    "read",
    "register_references",
    "store",
    "store_stream",
    "sweep",
]
