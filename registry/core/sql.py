"""Runs SQL without creating model instances, which took half of the publishing time."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

_MAX_PREPARED_PLACEHOLDERS = 50  # psycopg caches parsed statements with at most this many values


def insert_rows(
    model: type[Model],
    columns: Sequence[str],
    rows: Iterable[Sequence[int | str | bytes | None]],
    *,
    on_conflict: str = "",
) -> None:
    """Inserts the rows with ``executemany``; without rows, does nothing. ``on_conflict`` is a clause that is
    valid on PostgreSQL and SQLite.
    """
    values = list(rows)
    if not values:
        return
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    marks = ", ".join(["%s"] * len(columns))
    into = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} ({quoted}) VALUES ({marks}) {on_conflict}", values)


def execute(sql: str, values: Sequence[Any]) -> int:
    """Executes a statement; returns the number of rows that it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Runs a query, which must be valid on PostgreSQL and SQLite, and returns its rows as tuples."""
    with connection.cursor() as cursor:
        if len(values) > _MAX_PREPARED_PLACEHOLDERS and connection.vendor == "postgresql":
            sql, values = _inline_integers(sql, values)
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def _inline_integers(sql: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The statement with non-negative integers written into it, and the other values. psycopg parses
    placeholders one by one; for a thousand values, this took longer than the query.
    """
    first, *texts = sql.split("%s")
    marks = [str(value) if type(value) is int and value >= 0 else "%s" for value in values]
    left = [value for value, mark in zip(values, marks, strict=True) if mark == "%s"]
    return first + "".join(map(str.__add__, marks, texts)), left


def placeholders(values: Sequence[object]) -> str:
    """The placeholders for a non-empty list of values: ``%s, %s``."""
    return ", ".join(["%s"] * len(values))


def try_lock(name: str) -> bool:
    """Acquires the named lock until the transaction ends; returns False if another transaction holds it.
    Always True on SQLite, where every transaction begins with the write lock.
    """
    if connection.vendor != "postgresql":
        return True
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    return bool(fetch_all("SELECT pg_try_advisory_xact_lock(%s)", [number])[0][0])
