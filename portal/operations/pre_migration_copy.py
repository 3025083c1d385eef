"""A copy of a SQLite database, made before each migration and kept in ``SKILLQUAY_VAR/backups``."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from registry.transfer import sql

_KEPT = 3  # number of copies


def make() -> Path | None:
    """Copies the database and returns the path of the copy. Deletes all but the newest ``_KEPT`` copies.

    Returns None if the database is empty, has no migration to run, or is PostgreSQL, which ``pg_dump`` backs
    up.
    """
    if connection.vendor != "sqlite" or not connection.introspection.table_names():
        return None
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return None
    folder = Path(settings.SKILLQUAY_VAR) / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{timezone.now():%Y%m%dT%H%M%S%f}.sqlite3"
    sql.execute(connection, sql.SQLITE_COPY, [str(path)])
    os.chmod(path, 0o600)
    for old in sorted(folder.glob("*.sqlite3"))[:-_KEPT]:
        old.unlink()
    return path
