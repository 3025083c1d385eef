"""Adds requests to the counts that all processes share, in the database."""

from registry.core.sql import execute, fetch_all

_ADD = (
    "INSERT INTO registry_ratecount (key, count, ends_at) VALUES (%s, %s, %s) "
    "ON CONFLICT (key) DO UPDATE SET count = registry_ratecount.count + excluded.count RETURNING count"
)


def add(key: str, number: int, ends_at: int) -> int:
    """Adds ``number`` to the count and returns the sum, in one statement, so that concurrent additions are
    all counted.
    """
    return int(fetch_all(_ADD, [key, number, ends_at])[0][0])


def delete_ended(now: int) -> None:
    execute("DELETE FROM registry_ratecount WHERE ends_at < %s", [now])
