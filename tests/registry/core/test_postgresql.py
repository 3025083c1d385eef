"""The backend for PostgreSQL."""

from __future__ import annotations

import time

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql import base

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


def _process() -> int:
    return int(sql.fetch_all("SELECT pg_backend_pid()", ())[0][0])


@pytest.mark.django_db(transaction=True)
def test_connection_that_the_database_ended_is_replaced_before_the_next_statement(monkeypatch):
    old = _process()
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [old])
    end = time.monotonic() + 10
    while connection.is_usable() and time.monotonic() < end:
        time.sleep(0.01)
    monkeypatch.setattr(connection, "health_check_enabled", True)
    monkeypatch.setattr(connection, "health_check_done", False)
    assert _process() != old


@pytest.mark.django_db(transaction=True)
def test_working_connection_is_not_asked(monkeypatch):
    _process()
    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", lambda self: pytest.fail("asked"))
    assert connection.is_usable()
