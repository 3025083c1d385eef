"""Stores content once under its SHA-256 digest, on the local disk or in S3, and removes unused content.

A blob is written before the row that references it. A sweep therefore removes only blobs that are at least an
hour old, which leaves time to save that row.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from django.conf import settings

from registry.core.errors import UNAVAILABLE
from registry.core.hooks import Hook
from registry.packages.problems import Refusal
from registry.storage.backend import BlobBackend
from registry.storage.disk import DiskBackend
from registry.storage.errors import BLOB_MISSING, BLOB_TOO_LARGE

GRACE = timedelta(hours=1)
SIGNED_URL_S = 300

referenced_digests: Hook[[], Iterable[str]] = Hook()


@dataclass(frozen=True)
class StoredBlob:
    digest: str  # "sha256:…"
    size: int  # bytes


@dataclass(frozen=True)
class SweepResult:
    blobs: int
    bytes: int
    leftovers: int  # unfinished writes of crashed processes


def store(data: bytes) -> str:
    """Stores ``data`` and returns its digest (``sha256:…``). Storing known content again resets its age."""
    return store_stream([data], limit=len(data)).digest


def store_stream(chunks: Iterable[bytes], *, limit: int) -> StoredBlob:
    """Stores a stream chunk by chunk. Above ``limit`` bytes, stores nothing and raises BLOB_TOO_LARGE."""
    sha256, size = hashlib.sha256(), 0
    with backend().open_writer() as writer:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise BLOB_TOO_LARGE.refusal(limit=limit)
            sha256.update(chunk)
            writer.write(chunk)
        writer.commit(sha256.hexdigest())
    return StoredBlob(f"sha256:{sha256.hexdigest()}", size)


def read(digest: str) -> bytes:
    """The whole content of a blob. Raises BLOB_MISSING if the blob is missing or does not match its digest,
    or if the digest is malformed. Raises UNAVAILABLE if the storage fails.
    """
    with open_blob(digest) as file:
        data = file.read()
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise BLOB_MISSING.refusal(digest=digest)
    return data


def open_blob(digest: str) -> BinaryIO:
    """Opens the blob for reading; the caller closes it. Raises BLOB_MISSING if the blob is missing or the
    digest is malformed. Raises UNAVAILABLE if the storage fails.
    """
    try:
        return backend().open(_key(digest))
    except FileNotFoundError:
        raise BLOB_MISSING.refusal(digest=digest) from None


def is_reachable() -> bool:
    """Whether the storage responds. On a disk, also False until a first blob is stored, because an empty
    folder may be a lost mount.
    """
    try:
        return backend().is_reachable()
    except Refusal:
        return False


def is_lost(error: Refusal) -> bool:
    """Whether the error means that the storage is unreachable, not only that one blob is missing."""
    return error.code == UNAVAILABLE.name or (error.code == BLOB_MISSING.name and not is_reachable())


def exists(digest: str) -> bool:
    return backend().exists(_key(digest))


def local_path(digest: str) -> Path | None:
    """The path of the blob's file on this machine; None if the blob is missing or stored in S3."""
    return backend().local_path(_key(digest))


def relative_path(digest: str) -> str:
    """The path of the blob's file in the blob folder."""
    return f"{(key := _key(digest))[:2]}/{key[2:4]}/{key}"


def signed_url(digest: str, *, content_type: str, disposition: str) -> str:
    """A URL at which anyone can download the blob from S3 for ``SIGNED_URL_S`` seconds, with these headers.

    Works only if STORAGE_URL is set.
    """
    return backend().signed_url(
        _key(digest), content_type=content_type, disposition=disposition, for_s=SIGNED_URL_S
    )


def sweep(*, grace: timedelta = GRACE) -> SweepResult:
    """Removes unreferenced blobs and unfinished writes that are at least ``grace`` old; returns the
    numbers of removed blobs, bytes and writes.
    """
    storage = backend()
    # listed before the references are read, so that these include rows saved in between
    old = list(storage.older_than(grace))
    referenced = _referenced_keys()
    sizes = [size for key, size in old if key not in referenced and storage.remove(key, grace)]
    return SweepResult(blobs=len(sizes), bytes=sum(sizes), leftovers=storage.remove_leftovers(grace))


def discard(digests: Iterable[str]) -> int:
    """Removes the unreferenced blobs among ``digests``, whatever their age; returns the count.

    The caller must hold a lock that prevents new references to these blobs.
    """
    keys = {_key(digest) for digest in digests}
    referenced = _referenced_keys() if keys else set()
    storage = backend()
    return sum(storage.remove(key, timedelta(0)) for key in keys - referenced)


def _referenced_keys() -> set[str]:
    return {_key(digest) for digests in referenced_digests.send() for digest in digests}


def digests() -> Iterator[str]:
    """Yields the digests of all stored blobs, in no particular order."""
    return (f"sha256:{key}" for key, _ in backend().older_than(timedelta(0)))


def backend() -> BlobBackend:
    """The backend for STORAGE_URL: an S3 bucket, or the local disk if the setting is empty. For the disk,
    creates the blob folder if it is missing.
    """
    return backend_for(settings.STORAGE_URL)


def backend_for(url: str) -> BlobBackend:
    """The backend for a value of STORAGE_URL, with this site's data folder and access keys."""
    if not url:
        return DiskBackend(Path(settings.SKILLQUAY_VAR) / "blobs")
    # imported here because boto3 is slow to import and most sites do not use it
    from registry.storage.s3 import S3Backend

    parts = urlsplit(url)
    return S3Backend(parts.netloc, parts.path.strip("/"))


def _key(digest: str) -> str:
    algorithm, _, key = digest.partition(":")
    if algorithm != "sha256" or len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise BLOB_MISSING.refusal(digest=digest)
    return key
