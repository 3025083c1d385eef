"""The copies of a SQLite database that ``set_up`` makes before a migration."""

from __future__ import annotations

import sqlite3

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from portal.operations import pre_migration_copy
from tests.checks import not_none

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9")]


def test_database_is_copied_only_before_a_migration_and_three_copies_stay(monkeypatch, settings, team):
    assert pre_migration_copy.make() is None
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda self, targets: ["a migration"])
    copies = [pre_migration_copy.make() for _ in range(5)]
    if connection.vendor != "sqlite":
        assert copies == [None] * 5
        return
    assert sorted((settings.SKILLQUAY_VAR / "backups").iterdir()) == copies[2:]
    with sqlite3.connect(str(copies[-1])) as copy:
        assert copy.execute("SELECT slug FROM registry_team").fetchall() == [(team.slug,)]
    assert not_none(copies[-1]).stat().st_mode & 0o077 == 0
