"""Rows by the hundred without a model instance for each: these were half the work of publishing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def insert(
    model: type[Model],
    columns: Sequence[str],
    rows: Iterable[Sequence[int | str | None]],
    *,
    on_conflict: str = "",
) -> None:
    """One statement, many times; ``on_conflict`` is SQL of ours that PostgreSQL and SQLite both know."""
    values = list(rows)
    if not values:
        return
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    places = ", ".join(["%s"] * len(columns))
    into = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} ({quoted}) VALUES ({places}) {on_conflict}", values)


def read(sql: str, values: Sequence[Any]) -> list[Any]:
    """What SQL of ours finds that PostgreSQL and SQLite both know; for the few statements of every search."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def places(values: Sequence[object]) -> str:
    """The marks for so many values, of which there must be one."""
    return ", ".join(["%s"] * len(values))
