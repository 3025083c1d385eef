"""How SQLite would run the statements that a call sends."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext


def plan_lines(call: Callable[[], object]) -> list[str]:
    """The lines of the plans of all SELECT statements; [] on PostgreSQL, which reads small tables whole."""
    with CaptureQueriesContext(connection) as queries:
        call()
    if connection.vendor != "sqlite":
        return []
    found = [each["sql"] for each in queries.captured_queries if each["sql"].lstrip().startswith("SELECT")]
    with connection.cursor() as cursor:
        return [row[3] for sql in found for row in cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]


def whole_reads(call: Callable[[], object]) -> list[str]:
    """The lines that read a whole table or index."""
    return [line for line in plan_lines(call) if line.startswith("SCAN ") and "part" not in line]
