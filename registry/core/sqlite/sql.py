"""Django converts the placeholders of a statement at each execution, which takes 50 µs for a long one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base

_MAX_STATEMENTS = 300


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: Any = None) -> _Cursor:
        cursor: _Cursor = self.connection.cursor(factory=_Cursor)
        return cursor


class _Cursor(base.SQLiteCursorWrapper):
    def convert_query(self, query: str, *, param_names: Iterable[str] | None = None) -> str:
        if param_names is None:
            return _converted(query)
        converted: str = super().convert_query(query, param_names=param_names)
        return converted


@lru_cache(maxsize=_MAX_STATEMENTS)
def _converted(query: str) -> str:
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")
