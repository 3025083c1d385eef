"""Installs the triggers that raise change numbers after every migration, and finds missing ones.

The triggers are dropped before a migration. When Django rebuilds a table, SQLite drops the table's triggers.
It also refuses to rename tables that other tables' triggers name.
"""

from __future__ import annotations

import hashlib
import time
from functools import cache
from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from registry.changes import sql
from registry.changes.watched_tables import WATCHED

MISSING = "Can't start: the database lacks the triggers that record changes. Run `manage.py migrate`."


def drop_before_migrate(using: str, **kwargs: Any) -> None:
    """Drops the triggers before a migration. Receives ``pre_migrate``."""
    drop(connections[using])


def install_after_migrate(using: str, **kwargs: Any) -> None:
    """Installs the triggers after a migration. Receives ``post_migrate``. Does nothing while tables are
    missing, as in a partial migration.
    """
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    if tables >= set(WATCHED) | {"registry_sitenumber", "registry_changenumber", "registry_pendingchange"}:
        install(connection)


def install(connection: BaseDatabaseWrapper) -> None:
    """Gives a new site its first number. If a trigger is missing or differs, replaces all triggers and
    outdates all kept answers, because changes were not recorded in the meantime.
    """
    with transaction.atomic(using=connection.alias):
        # Starts at the time: after a restored backup, no process takes an old number for a new one.
        sql.execute(connection, sql.SEED_NUMBER, [int(time.time() * 1000)])
        if not missing_triggers(connection):
            return
        drop(connection)
        if connection.vendor == "postgresql":
            for statement in (*sql.POSTGRES_FUNCTIONS, sql.POSTGRES_RAISE_TRIGGER):
                sql.execute(connection, statement)
        for name, (table, statements) in _expected_triggers(connection.vendor).items():
            for statement in statements:
                sql.execute(connection, statement)
            if connection.vendor == "postgresql":
                sql.execute(connection, sql.postgres_comment(name, table, _digest(statements)))
        # Every kept answer depends on this number: changes without triggers were not numbered.
        sql.execute(connection, sql.RAISE_SITE)
        sql.execute(connection, sql.RAISE_COMMON)


def drop(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor == "postgresql":
        sql.execute(connection, sql.POSTGRES_DROP)
        return
    for name, _ in sql.fetch_pairs(connection, sql.SQLITE_TRIGGERS):
        sql.execute(connection, sql.sqlite_drop(name))


def missing_triggers(connection: BaseDatabaseWrapper) -> list[str]:
    """The names of the triggers that the database lacks or has in another form."""
    if connection.vendor == "postgresql":
        present = sql.fetch_pairs(connection, sql.POSTGRES_TRIGGERS)
        wanted = {name: _digest(found) for name, (_, found) in _expected_triggers("postgresql").items()}
    else:
        present = sql.fetch_pairs(connection, sql.SQLITE_TRIGGERS)
        wanted = {name: found[0] for name, (_, found) in _expected_triggers("sqlite").items()}
    definitions = dict(present)
    return sorted(name for name, definition in wanted.items() if definitions.get(name) != definition)


@cache
def _expected_triggers(vendor: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    expected: dict[str, tuple[str, tuple[str, ...]]] = {}
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        if table not in WATCHED:
            continue
        columns = [str(field.column) for field in model._meta.concrete_fields]
        if vendor == "postgresql":
            for name, statements in sql.postgres_triggers(table, WATCHED[table], columns):
                expected[name] = (table, statements)
        else:
            for name, statement in sql.sqlite_triggers(table, WATCHED[table], columns):
                expected[name] = (table, (statement,))
    return expected


def _digest(statements: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()
