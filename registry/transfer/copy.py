"""Backs up and restores a site, and copies it to another database or storage."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from registry.canonical import pinned_postings
from registry.core.time import rfc3339
from registry.identity import site_key
from registry.index import postings
from registry.storage.backend import BlobBackend
from registry.transfer.archive import BackupFile, BackupWriter
from registry.transfer.blobs import BlobSource, BlobTotals, StorageSource, copy_blobs
from registry.transfer.database import DatabaseTarget, RowSource, snapshot
from registry.transfer.errors import BACKUP_OF_OTHER_RELEASE, BLOBS_DAMAGED, COPY_DIFFERS
from registry.transfer.tables import copied_tables

Progress = Callable[[str, int, int | None], None]  # what is copied, how many are done, of how many


@dataclass(frozen=True)
class CopyResult:
    tables: int
    rows: int
    blobs: int
    bytes: int  # of the blobs that were copied now


def back_up(path: Path, storage: BlobBackend, *, release: str, on_progress: Progress) -> CopyResult:
    """Writes a backup of the site to ``path``: all rows from one snapshot, then the blobs.

    The site can stay online. A blob that is deleted during the backup may be missing in it.
    """
    totals = {}
    blobs = 0
    with BackupWriter(path).opened() as writer:
        with snapshot() as source:
            for table in copied_tables():
                totals[table.name] = writer.write_table(table, source.rows(table))
                on_progress(table.name, totals[table.name].rows, None)
        for blobs in writer.write_blobs(StorageSource(storage)):
            on_progress("blobs", blobs, None)
        writer.write_manifest(
            {
                "id": uuid.uuid4().hex,
                "created_at": rfc3339(timezone.now()),
                "release": release,
                "migrations": applied_migrations("default"),
                "key": site_key.fingerprint(),
                "tables": {name: each.document() for name, each in totals.items()},
                "blobs": blobs,
            }
        )
    return CopyResult(len(totals), sum(each.rows for each in totals.values()), blobs, path.stat().st_size)


def restore(backup: BackupFile, storage: BlobBackend, *, on_progress: Progress) -> CopyResult:
    """Fills the site's empty database and storage. After an interruption, call this again with the same
    file.

    Raises BACKUP_OF_OTHER_RELEASE if the backup's migrations differ from the database's, COPY_DIFFERS if
    the rows differ from the backup's, and the errors of ``copy_site``.
    """
    if backup.manifest["migrations"] != applied_migrations("default"):
        raise BACKUP_OF_OTHER_RELEASE.refusal(release=backup.manifest["release"])
    expected = {name: each["rows"] for name, each in backup.manifest["tables"].items()}
    target = DatabaseTarget()
    copied = copy_site(backup, backup, target, storage, expected=expected, on_progress=on_progress)
    for table in copied_tables():
        if target.totals(table).document() != backup.manifest["tables"][table.name]:
            raise COPY_DIFFERS.refusal(table=table.name)
    rebuild_index(on_progress)
    target.finish()
    return copied


def copy_site(
    rows: RowSource,
    blobs: BlobSource | None,
    target: DatabaseTarget,
    storage: BlobBackend,
    *,
    expected: dict[str, int],
    on_progress: Progress,
) -> CopyResult:
    """Copies and verifies rows and blobs. The caller must call ``target.finish``. If ``blobs`` is None, the
    site keeps its storage.

    Raises BLOBS_DAMAGED if the source has damaged blobs, and the errors of ``target.begin`` and
    ``target.verify``.
    """
    target.begin(rows.name)
    tables = copied_tables()
    total = 0
    for table in tables:
        for done in target.copy(table, rows):
            on_progress(table.name, done, expected.get(table.name))
        target.verify(table)
        total += target.totals(table).rows
    copied = BlobTotals()
    for copied in copy_blobs(blobs, storage) if blobs else ():
        on_progress("blobs", copied.blobs, None)
    if copied.damaged:
        raise BLOBS_DAMAGED.refusal(count=len(copied.damaged), digest=f"sha256:{copied.damaged[0]}")
    return CopyResult(len(tables), total, copied.blobs, copied.bytes)


def rebuild_index(on_progress: Progress) -> None:
    """Writes the search terms and triggers of all skills, because a copy does not contain them."""
    for done in postings.reindex(every=True):
        on_progress("search index", done, None)
    for _ in pinned_postings.reindex(every=True):
        pass


def applied_migrations(alias: str) -> list[list[str]]:
    """App and name of each migration that the database has, sorted."""
    return sorted([app, name] for app, name in MigrationLoader(connections[alias]).applied_migrations)


def document(result: CopyResult) -> dict[str, Any]:
    return {"ok": True, **asdict(result)}
