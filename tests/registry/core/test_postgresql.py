"""The backend for PostgreSQL."""

from __future__ import annotations

import pytest

from registry.core import sql

pytestmark = [pytest.mark.postgresql, pytest.mark.row("P5")]


@pytest.mark.django_db
def test_psycopg_parses_a_long_statement_once():
    from psycopg import _queries

    statement = f"SELECT {' + '.join(['%s'] * 100)} /* {'long ' * 2000} */"
    sql.fetch_all(statement, [1] * 100)
    before = _queries._query2pg_client.cache_info().hits
    assert sql.fetch_all(statement, [2] * 100) == [(200,)]
    assert _queries._query2pg_client.cache_info().hits == before + 1
