"""The interface of blob storage, implemented for the local disk and S3 buckets."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol


class BlobWriter(Protocol):
    """Receives the bytes of a new blob. The blob exists only after ``commit``."""

    def write(self, chunk: bytes) -> None: ...

    def commit(self, key: str) -> None: ...


class BlobBackend(Protocol):
    """Stores blobs by key, the SHA-256 of their content in 64 hexadecimal digits.

    For a missing blob, ``open`` raises FileNotFoundError and ``local_path`` returns None.
    """

    def open_writer(self) -> AbstractContextManager[BlobWriter]: ...

    def open(self, key: str) -> BinaryIO: ...

    def exists(self, key: str) -> bool: ...

    def is_reachable(self) -> bool: ...

    def local_path(self, key: str) -> Path | None: ...

    def signed_url(self, key: str, *, content_type: str, disposition: str, for_s: int) -> str:
        """A URL that works for ``for_s`` seconds without credentials. Raises NotImplementedError for a local
        disk.
        """
        ...

    def older_than(self, age: timedelta) -> Iterator[tuple[str, int]]:
        """Yields key and size in bytes of each blob that is at least ``age`` old."""
        ...

    def remove(self, key: str, age: timedelta) -> bool:
        """Removes the blob if it still exists and is at least ``age`` old; returns whether it was removed.

        Storing the same content again resets a blob's age.
        """
        ...

    def remove_leftovers(self, age: timedelta) -> int:
        """Removes unfinished writes that are at least ``age`` old; returns the count."""
        ...
