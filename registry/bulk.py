"""Rows by the hundred, written without a model instance for each: half the work of publishing was those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connection
from django.db.models import Model


def insert(
    model: type[Model], columns: Sequence[str], rows: Iterable[Sequence[int | str]], *, on_conflict: str = ""
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
