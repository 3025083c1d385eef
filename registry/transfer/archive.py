"""A backup file: a zip with ``tables/<name>.jsonl``, ``blobs/<key>`` and, written last, ``manifest.json``.

The file contains no encryption keys, which are needed to read its secrets.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from registry.transfer.blobs import BlobSource
from registry.transfer.errors import BACKUP_UNREADABLE
from registry.transfer.tables import Table, Totals

FORMAT = 1
_MANIFEST = "manifest.json"
_BLOBS = "blobs/"


class BackupWriter:
    """Writes a hidden file next to ``path``, which replaces ``path`` once the file is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f".{path.name}.partial")

    @contextmanager
    def opened(self) -> Iterator[BackupWriter]:
        """Context manager that opens the file for writing. Replaces ``path`` at the end of the block; after
        an exception, deletes the file instead.
        """
        with suppress(FileNotFoundError):
            self.partial.unlink()
        try:
            with open(self.partial, "xb", opener=_owner_only) as file:
                with zipfile.ZipFile(file, "w", allowZip64=True) as self.archive:
                    yield self
                file.flush()
                os.fsync(file.fileno())
            self.partial.replace(self.path)
        finally:
            self.partial.unlink(missing_ok=True)

    def write_table(self, table: Table, rows: Iterator[list[Any]]) -> Totals:
        entry = zipfile.ZipInfo(f"tables/{table.name}.jsonl")
        entry.compress_type = zipfile.ZIP_DEFLATED
        totals = Totals()
        with self.archive.open(entry, "w", force_zip64=True) as file:
            for row in rows:
                totals.add(row)
                file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        return totals

    def write_blobs(self, source: BlobSource) -> Iterator[int]:
        """Copies the blobs and yields the count after each. Does not compress them, because packages are
        already compressed.
        """
        count = 0
        for key in source.keys():  # noqa: SIM118 - not a mapping
            with suppress(FileNotFoundError), source.open(key) as blob:  # deleted by a user meanwhile
                with self.archive.open(zipfile.ZipInfo(_BLOBS + key), "w", force_zip64=True) as file:
                    shutil.copyfileobj(blob, file)
                count += 1
            yield count

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        document = {"format": FORMAT, **manifest}
        self.archive.writestr(_MANIFEST, json.dumps(document, indent=1), zipfile.ZIP_DEFLATED)


class BackupFile:
    """The rows and blobs of a complete backup. The constructor and ``rows`` raise BACKUP_UNREADABLE if the
    file is damaged, incomplete or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.archive = zipfile.ZipFile(path)
            self.manifest = json.loads(self.archive.read(_MANIFEST))
        except (OSError, zipfile.BadZipFile, KeyError, ValueError):
            raise BACKUP_UNREADABLE.refusal(path=str(path)) from None
        if self.manifest.get("format") != FORMAT:
            raise BACKUP_UNREADABLE.refusal(path=str(path))
        self.name = f"backup {self.manifest['id']}"
        self._lock = threading.Lock()

    def rows(self, table: Table, *, after: Any = None, skip: int = 0) -> Iterator[list[Any]]:
        try:
            with self.archive.open(f"tables/{table.name}.jsonl") as file:
                for line in islice(file, skip, None):
                    yield json.loads(line)
        except (KeyError, ValueError, zipfile.BadZipFile):
            raise BACKUP_UNREADABLE.refusal(path=str(self.path)) from None

    def keys(self) -> Iterator[str]:
        return (name[len(_BLOBS) :] for name in self.archive.namelist() if name.startswith(_BLOBS))

    def open(self, key: str) -> BinaryIO:
        """The blob in memory; empty if the blob is damaged."""
        with self._lock:
            try:
                return BytesIO(self.archive.read(_BLOBS + key))
            except zipfile.BadZipFile:
                return BytesIO()


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
