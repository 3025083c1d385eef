"""Each column of each table raises a change number, or says why it does not."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.db import connection

from registry.changes import install, sql
from registry.changes.watched_tables import UNWATCHED, WATCHED

pytestmark = pytest.mark.row("P9")
OURS = ("registry", "worker")
TABLES = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}


def test_every_table_is_watched_or_has_a_reason():
    ours = {table for table, model in TABLES.items() if model._meta.app_label in OURS}
    assert ours - set(WATCHED) - set(UNWATCHED) == set()
    assert set(WATCHED) & set(UNWATCHED) == set()
    assert (set(WATCHED) | set(UNWATCHED)) - set(TABLES) == set()
    assert all(UNWATCHED.values())


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_every_column_raises_a_number_or_has_a_reason(vendor):
    for table, watched in WATCHED.items():
        columns = {str(field.column) for field in TABLES[table]._meta.concrete_fields}
        triggers = sql.sqlite_triggers if vendor == "sqlite" else sql.postgres_triggers
        texts = [str(text) for _, text in triggers(table, watched, sorted(columns))]
        of = set(re.findall(r'"(\w+)"', " ".join(re.findall(r"UPDATE OF (.+?) ON", " ".join(texts)))))
        assert of == columns - set(watched.ignored), table
        assert set(watched.ignored) <= columns, table
        assert all(watched.ignored.values()), table


@pytest.mark.django_db
def test_installed_triggers_are_the_expected_ones():
    assert install.missing_triggers(connection) == []
    install.install(connection)  # a second time changes nothing
    assert install.missing_triggers(connection) == []


@pytest.mark.django_db
def test_lost_triggers_are_found_and_installed(django_db_blocker):
    name = "skillquay_change_registry_skill_update"
    with connection.cursor() as cursor:
        on = " ON registry_skill" if connection.vendor == "postgresql" else ""
        cursor.execute(f"DROP TRIGGER {name}{on}")
    assert install.missing_triggers(connection) == [name]
    install.install(connection)
    assert install.missing_triggers(connection) == []
