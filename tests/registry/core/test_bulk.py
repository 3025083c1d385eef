"""Statements of ours: whole numbers are written into long ones, texts never are."""

from __future__ import annotations

import pytest
from django.db import connection

from registry.core import sql as bulk

pytestmark = pytest.mark.row("P4")


def test_whole_numbers_are_written_out_and_everything_else_stays_bound():
    sql = "SELECT a FROM b WHERE c IN (%s, %s) AND d = %s AND e = %s AND f < %s LIMIT %s"

    written, left = bulk._inline_integers(sql, [7, "8); DROP TABLE b --", True, None, -1, 20])

    assert written == "SELECT a FROM b WHERE c IN (7, %s) AND d = %s AND e = %s AND f < %s LIMIT 20"
    assert left == ["8); DROP TABLE b --", True, None, -1]


@pytest.mark.django_db
@pytest.mark.parametrize("count", [3, 300])
def test_long_and_short_statements_find_the_same(count):
    keys, text = list(range(count)), "it's 100 %s"
    sql = f"SELECT column1, %s FROM (VALUES {', '.join(['(%s)'] * count)}) AS v ORDER BY column1"
    if connection.vendor == "postgresql":
        sql = sql.replace("%s", "CAST(%s AS text)", 1)

    assert bulk.fetch_all(sql, [text, *keys]) == [(key, text) for key in keys]
