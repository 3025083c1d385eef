"""Migrated databases for processes of a test's own: copied from the suite's, which is quicker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_copies: dict[str, str] = {}  # vendor → what is copied: a file, or the name of a database


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Copies the suite's own database, while it is migrated and empty."""
    from django.conf import settings
    from django.db import connection, connections

    from tests import cluster, tables

    # If none of the chosen tests needs a database, this is the checkout's own one.
    is_own = str(connection.settings_dict["NAME"]) == str(settings.SKILLQUAY_VAR / "skillquay.sqlite3")
    if is_own or not connection.introspection.table_names():
        yield
        return
    tables.record()
    if connection.vendor == "sqlite":
        import sqlite3

        _copies["sqlite"] = str(folder / "migrated.sqlite3")
        with sqlite3.connect(_copies["sqlite"]) as file:
            connection.connection.backup(file)
        file.close()
        yield
        return
    name = connection.settings_dict["NAME"]
    copy, server = f"{name}_migrated", os.environ["DATABASE_URL"]
    connections.close_all()
    cluster.execute(server, f"DROP DATABASE IF EXISTS {copy}")
    cluster.execute(server, f"CREATE DATABASE {copy} TEMPLATE {name}")
    _copies["postgresql"] = copy
    yield
    connections.close_all()
    others = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    # Threads of portal/lanes/watching keep theirs for CONNECTION_S, and the database could not be dropped.
    cluster.execute(server, others)
    cluster.execute(server, f"DROP DATABASE {copy}")


def lay(environment: Mapping[str, str]) -> None:
    """Gives the site of this environment its tables, where ``cluster`` has not made a copy already."""
    database = environment.get("DATABASE_URL")
    if not database and "sqlite" in _copies:
        folder = Path(environment["SKILLQUAY_VAR"])
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(_copies["sqlite"], folder / "skillquay.sqlite3")
    elif not (database and "postgresql" in _copies):
        argv = [sys.executable, "-m", "tests.tables"]
        subprocess.run(argv, cwd=ROOT, env=environment, check=True, timeout=120)


def template() -> str:
    """What a new PostgreSQL database is made from."""
    return _copies.get("postgresql", "template1")
