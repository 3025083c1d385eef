from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol


class Incoming(Protocol):
    """Bytes on their way in; they are a blob only once they are kept, whole."""

    def write(self, chunk: bytes) -> None: ...

    def keep_as(self, key: str) -> None: ...


class Place(Protocol):
    """Where blobs lie. A key is the SHA-256 in 64 hexadecimal digits."""

    def incoming(self) -> AbstractContextManager[Incoming]: ...

    def open(self, key: str) -> BinaryIO: ...

    def exists(self, key: str) -> bool: ...

    def local_path(self, key: str) -> Path | None: ...

    def older_than(self, age: timedelta) -> Iterator[tuple[str, int]]:
        """Key and size of each blob of that age."""
        ...

    def remove(self, key: str, age: timedelta) -> bool:
        """Removes the blob if it is still of that age: storing it again has made it young."""
        ...

    def remove_leftovers(self, age: timedelta) -> int: ...
