"""The suite makes its tables from the models; here the migrations make them, as they do for a site."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from tests import cluster
from tests.conftest import ROOT

_OURS = ("registry_", "worker_")


def _tables(connection):
    """Columns and indexes of each of our tables, however they came to be; names of indexes aside."""
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if name.startswith(_OURS)]
        columns, rules = (
            connection.introspection.get_table_description,
            connection.introspection.get_constraints,
        )
        return {
            name: (
                sorted((each.name, each.null_ok) for each in columns(cursor, name)),
                sorted(
                    (tuple(each["columns"]), each["unique"], each["primary_key"])
                    for each in rules(cursor, name).values()
                ),
            )
            for name in names
        }


@pytest.mark.full
@pytest.mark.row("P9")
@pytest.mark.django_db
def test_the_migrations_make_what_the_models_say(tmp_path, django_db_blocker):
    from django.db import connection
    from django.db.utils import ConnectionHandler

    wanted = _tables(connection)
    with cluster.corner(tables=False) as corner:
        environment = {**os.environ, **corner, "SKILLQUAY_VAR": str(tmp_path)}
        for command in ("migrate", "createcachetable"):  # as set_up does
            argv = [sys.executable, "manage.py", command, "-v0"]
            subprocess.run(argv, cwd=ROOT, env=environment, check=True, timeout=120)
        name = corner["DATABASE_URL"].rpartition("/")[2] or str(tmp_path / "skillquay.sqlite3")
        settings = {**connection.settings_dict, "NAME": name}
        other = ConnectionHandler({"default": settings})["default"]
        try:
            assert _tables(other) == wanted
        finally:
            other.close()


@pytest.mark.full
@pytest.mark.row("P9")
def test_migrate_refuses_a_database_of_another_version_in_one_line(tmp_path):
    with sqlite3.connect(tmp_path / "skillquay.sqlite3") as database:
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        database.execute("INSERT INTO django_migrations VALUES (1, 'registry', '0024_other', '2026-11-01')")
    environment = {**os.environ, "DATABASE_URL": "", "SKILLQUAY_VAR": str(tmp_path)}
    argv = [sys.executable, "manage.py", "migrate", "-v0"]
    ended = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "registry.0024_other" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
