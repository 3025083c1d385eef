"""Rows by the hundred without a model instance for each: these were half the work of publishing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

_REMEMBERED = 50  # psycopg remembers how statements with so many values are taken apart


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
        if len(values) > _REMEMBERED and connection.vendor == "postgresql":
            sql, values = _with_numbers(sql, values)
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def _with_numbers(sql: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The statement with its whole numbers written out: psycopg takes long lists of marks apart one by one,
    which with a thousand keys took longer than all that the database does for them."""
    first, *texts = sql.split("%s")
    marks = [str(value) if type(value) is int and value >= 0 else "%s" for value in values]
    left = [value for value, mark in zip(values, marks, strict=True) if mark == "%s"]
    return first + "".join(map(str.__add__, marks, texts)), left


def places(values: Sequence[object]) -> str:
    """The marks for so many values, of which there must be one."""
    return ", ".join(["%s"] * len(values))
