"""Prepared querysets of runs: SQLite compiles their statements once, not for each value."""

from __future__ import annotations

import pytest
from django.db import connection

from registry.core.sql import prepared
from registry.models import Version
from tests.factories.runs import make_run
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@prepared
def _running(team: int):
    """The condition is that of a partial index."""
    return Run.objects.filter(team_id=team, status="running", depth=0).values_list("pk", flat=True)


def test_statement_with_the_condition_of_a_partial_index_is_compiled_once(hello, alice, team):
    run = make_run(Version.objects.get(), alice, team, status="running")
    make_run(Version.objects.get(), alice, team)
    assert [list(_running(key)) for key in (team.pk, -1)] == [[run.pk], []]
    if connection.vendor == "sqlite":  # PostgreSQL plans a prepared statement for all values
        compiled = []
        connection.connection.set_authorizer(lambda *step: compiled.append(step) or 0)
        try:
            list(_running(-2))  # a new authorizer lets all statements be compiled again
            assert compiled
            compiled.clear()
            assert list(_running(team.pk)) == [run.pk]
        finally:
            connection.connection.set_authorizer(None)
        assert compiled == []
