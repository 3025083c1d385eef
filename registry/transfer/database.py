"""Reads the rows of a site's database, and writes rows to an empty one so that the copy can be resumed.

Each batch of rows is written in one transaction with its progress. Until ``finish``, the target lacks the
triggers of change numbers, so that no process serves it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from django.core.management.color import no_style
from django.db import IntegrityError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from registry.changes import install
from registry.models import Skill, User
from registry.transfer import sql
from registry.transfer.errors import COPY_DIFFERS, OTHER_COPY_UNFINISHED, TARGET_NOT_EMPTY
from registry.transfer.tables import Table, Totals, copied_tables, native, neutral

_BATCH = 500  # rows; a row of a log has up to 64 kB
_SOURCE = "transfer-source"


class RowSource(Protocol):
    """The interface of a source of rows: a database or a backup file."""

    name: str  # identifies the source when a copy is resumed

    def rows(self, table: Table, *, after: Any, skip: int) -> Iterator[list[Any]]:
        """The rows in the order of their keys, without the first ``skip`` rows. ``after`` is the key of the
        last skipped row.
        """
        ...


class DatabaseSource:
    """The rows of a database. Use it in ``snapshot`` to read all tables at the same moment."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        settings = connections[alias].settings_dict
        self.name = f"{settings['ENGINE'].rpartition('.')[2]} {settings['NAME']} {settings['HOST']}".strip()

    def rows(self, table: Table, *, after: Any = None, skip: int = 0) -> Iterator[list[Any]]:
        names = [field.attname for field in table.fields]
        while True:
            query = table.model._base_manager.using(self.alias).order_by("pk").values_list(*names)
            batch = list((query if after is None else query.filter(pk__gt=after))[:_BATCH])
            for row in batch:
                yield [neutral(value) for value in row]
            if len(batch) < _BATCH:
                return
            after = batch[-1][table.key]


@contextmanager
def snapshot(alias: str = "default") -> Iterator[DatabaseSource]:
    """Context manager that yields the database's rows as they are now, unaffected by later writes."""
    settings = connections[alias].settings_dict
    options = dict(settings["OPTIONS"])
    if connections[alias].vendor == "sqlite":
        options["transaction_mode"] = "DEFERRED"  # reads its own state of the file, and takes no lock
    else:
        options["isolation_level"] = 3  # psycopg.IsolationLevel.REPEATABLE_READ
    connections.databases[_SOURCE] = settings | {"OPTIONS": options, "CONN_MAX_AGE": 0}
    try:
        with transaction.atomic(using=_SOURCE):
            yield DatabaseSource(_SOURCE)
    finally:
        connections[_SOURCE].close()
        del connections.databases[_SOURCE]
        del connections[_SOURCE]


class DatabaseTarget:
    """A migrated, otherwise empty database that receives a copy."""

    def __init__(self, alias: str = "default") -> None:
        self.alias = alias
        self.connection: BaseDatabaseWrapper = connections[alias]
        self._state: dict[str, Any] = {}

    def begin(self, source: str) -> None:
        """Prepares the database, or continues an interrupted copy of the same source.

        Raises TARGET_NOT_EMPTY if the database has users or skills, and OTHER_COPY_UNFINISHED after an
        interrupted copy of another source.
        """
        if sql.STATE_TABLE not in self.connection.introspection.table_names():
            if User.objects.using(self.alias).exists() or Skill.objects.using(self.alias).exists():
                raise TARGET_NOT_EMPTY.refusal()
            with transaction.atomic(using=self.alias):
                install.drop(self.connection)
                sql.execute(self.connection, sql.CREATE_STATE)
                self._drop_foreign_keys()
                self._save("source", source)
        self._state = {name: json.loads(text) for name, text in sql.fetch(self.connection, sql.READ_STATE)}
        if self._state["source"] != source:
            raise OTHER_COPY_UNFINISHED.refusal(source=self._state["source"])

    def copy(self, table: Table, source: RowSource) -> Iterator[int]:
        """Copies the rows that are still missing. Yields the number of rows after each batch."""
        progress = self._state.get(table.name, {"last": None, "rows": 0, "digest": "0", "done": False})
        totals = Totals(progress["rows"], int(progress["digest"], 16))
        rows = source.rows(table, after=progress["last"], skip=totals.rows)
        while not progress["done"]:
            batch = list(islice(rows, _BATCH))
            totals = replace(totals)
            for row in batch:
                totals.add(row)
            last = batch[-1][table.key] if batch else progress["last"]
            progress = {"last": last, "done": len(batch) < _BATCH, **totals.document()}
            with self._without_foreign_keys(), transaction.atomic(using=self.alias):
                if table.name not in self._state:  # rows of the migrations, such as content types
                    sql.clear(self.connection, table.model._meta.db_table)
                self._insert(table, batch)
                self._save(table.name, progress)
            self._state[table.name] = progress
            yield totals.rows

    def totals(self, table: Table) -> Totals:
        """The totals of the copied rows, computed from the source."""
        return Totals(self._state[table.name]["rows"], int(self._state[table.name]["digest"], 16))

    def verify(self, table: Table) -> None:
        """Reads the copied rows again and compares their totals. Raises COPY_DIFFERS if they differ."""
        if Totals.of(DatabaseSource(self.alias).rows(table)) != self.totals(table):
            raise COPY_DIFFERS.refusal(table=table.name)

    def finish(self) -> None:
        """Restores foreign keys, sequences and triggers. Raises COPY_DIFFERS for a broken foreign key."""
        with transaction.atomic(using=self.alias):
            for table, name, definition in self._state.get("foreign keys", []):
                try:
                    sql.execute(self.connection, sql.add_foreign_key(table, name, definition))
                except IntegrityError as error:
                    raise COPY_DIFFERS.refusal(table=table) from error
            if self.connection.vendor == "sqlite":
                for table, *_ in sql.fetch(self.connection, sql.SQLITE_BROKEN_KEYS)[:1]:
                    raise COPY_DIFFERS.refusal(table=table)
            copied = [table.model for table in copied_tables()]
            for statement in self.connection.ops.sequence_reset_sql(no_style(), copied):
                sql.execute(self.connection, statement)
            sql.execute(self.connection, sql.DROP_STATE)
        install.install(self.connection)

    def _insert(self, table: Table, rows: list[list[Any]]) -> None:
        values = [
            [self._stored(field, value) for field, value in zip(table.fields, row, strict=True)]
            for row in rows
        ]
        if values:
            sql.insert(self.connection, table.model._meta.db_table, table.columns, values)

    def _stored(self, field: models.Field[Any, Any], value: Any) -> Any:
        if value is None and isinstance(field, models.JSONField) and not field.null:
            return self.connection.ops.adapt_json_value(None, field.encoder)  # JSON's null, not SQL's
        return field.get_db_prep_save(native(field, value), self.connection)

    def _save(self, name: str, value: Any) -> None:
        sql.execute(self.connection, sql.WRITE_STATE, [name, json.dumps(value)])

    def _drop_foreign_keys(self) -> None:
        """Drops the foreign keys on PostgreSQL, because tables refer to each other in cycles."""
        if self.connection.vendor != "postgresql":
            return
        found = sql.fetch(self.connection, sql.POSTGRES_FOREIGN_KEYS)
        for table, name, _definition in found:
            sql.execute(self.connection, sql.drop_foreign_key(table, name))
        self._save("foreign keys", found)

    @contextmanager
    def _without_foreign_keys(self) -> Iterator[None]:
        if self.connection.vendor != "sqlite":
            yield
            return
        self.connection.disable_constraint_checking()
        try:
            yield
        finally:
            self.connection.enable_constraint_checking()
