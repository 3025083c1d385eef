"""Inserts many similar rows quickly: only the values that differ are made for each row."""

from __future__ import annotations

from django.db import connection

_AT_ONCE = 5_000


class Rows:
    """Rows of one model, inserted in batches. ``template`` has the values that all rows share."""

    def __init__(self, template, varying, *, on_conflict=""):
        self._model = type(template)
        fields = [each for each in self._model._meta.concrete_fields if not each.primary_key]
        shared = [each for each in fields if each.attname not in varying]
        self._varying = [self._model._meta.get_field(name) for name in varying]
        self._shared = [each.get_db_prep_save(each.pre_save(template, True), connection) for each in shared]
        table = connection.ops.quote_name(self._model._meta.db_table)
        names = ", ".join(connection.ops.quote_name(each.column) for each in [*self._varying, *shared])
        marks = ", ".join(["%s"] * len(fields))
        self._sql = f"INSERT INTO {table} ({names}) VALUES ({marks}) {on_conflict}"
        self._pending = []

    def add(self, *values):
        """Adds a row with the values of the varying columns, in the order of the constructor."""
        adapted = [
            each.get_db_prep_save(value, connection)
            for each, value in zip(self._varying, values, strict=True)
        ]
        self._pending.append((*adapted, *self._shared))
        if len(self._pending) == _AT_ONCE:
            self.flush()

    def flush(self):
        """Inserts the rows that were added since the last batch."""
        with connection.cursor() as cursor:
            cursor.executemany(self._sql, self._pending)
        self._pending = []
