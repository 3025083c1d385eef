"""SQL of copied databases: the state of an unfinished copy, and the constraints that are disabled during a
copy.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

STATE_TABLE = "skillquay_transfer"
CREATE_STATE = f"CREATE TABLE {STATE_TABLE} (name varchar(200) PRIMARY KEY, value text NOT NULL)"
DROP_STATE = f"DROP TABLE {STATE_TABLE}"
READ_STATE = f"SELECT name, value FROM {STATE_TABLE}"
WRITE_STATE = (
    f"INSERT INTO {STATE_TABLE} (name, value) VALUES (%s, %s) "
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
POSTGRES_FOREIGN_KEYS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname
"""
SQLITE_COPY = "VACUUM INTO %s"
SQLITE_BROKEN_KEYS = "PRAGMA foreign_key_check"


def execute(connection: BaseDatabaseWrapper, statement: str, values: Sequence[Any] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def fetch(connection: BaseDatabaseWrapper, query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def insert(
    connection: BaseDatabaseWrapper, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    quote = connection.ops.quote_name
    names = ", ".join(map(quote, columns))
    marks = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {quote(table)} ({names}) VALUES ({marks})", list(rows))


def clear(connection: BaseDatabaseWrapper, table: str) -> None:
    execute(connection, f"DELETE FROM {connection.ops.quote_name(table)}")


def drop_foreign_key(table: str, name: str) -> str:
    return f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'


def add_foreign_key(table: str, name: str, definition: str) -> str:
    return f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
