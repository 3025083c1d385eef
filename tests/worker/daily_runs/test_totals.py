from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Version
from tests.factories.runs import make_run
from worker.daily_runs import roll_up
from worker.daily_runs.roll_up import roll_up_all
from worker.models import DailyRuns, Run
from worker.models.daily_runs import TOTAL_KEY, sees_all_runs
from worker.run_views.statistics import runs_by_version, skill_statistics

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6")]
_TOTALS = import_module("worker.migrations.0022_daily_run_totals")
_ROUNDED = import_module("worker.migrations.0023_rounded_durations")
_MERGED = import_module("worker.migrations.0027_merged_daily_totals")


@pytest.fixture
def counted(hello, alice, charlie):
    """Runs of alice's team's skill by two callers, of two teams, counted in two passes."""
    version = Version.objects.get()
    make_run(version, alice, hello.skill.team)
    make_run(version, charlie, None)
    roll_up_all()
    make_run(version, charlie, None)
    make_run(version, charlie, None, status="failed", failure_code="SCRIPT_FAILED")
    roll_up_all()
    return version.skill


@pytest.fixture
def varied(hello, alice, charlie):
    """A skill with runs of one day, several durations and two outcomes."""
    version = Version.objects.get()
    began = timezone.now() - timedelta(hours=2)
    for ms in (0, 1_234, 1_239, 1_262, 12_345_678):
        ended = began + timedelta(milliseconds=ms)
        make_run(version, alice, hello.skill.team, created_at=began, started_at=began, finished_at=ended)
        make_run(
            version, charlie, None, status="failed", created_at=began, started_at=began, finished_at=ended
        )
    return version.skill


def _figures():
    rows = DailyRuns.objects.order_by("day", "status", "failure_code", "team_key", "caller_key")
    return [(row.team_key, row.caller_key, row.status, row.runs, row.outcomes, row.durations) for row in rows]


def test_totals_are_the_sums_over_teams_and_callers(counted):
    (total,) = DailyRuns.objects.filter(team_key=TOTAL_KEY, caller_key=TOTAL_KEY)
    assert (total.status, total.failure_code, total.runs) == ("", "", 4)
    assert total.outcomes == {"succeeded": {"": 3}, "failed": {"SCRIPT_FAILED": 1}}
    assert total.durations == {"2100": 4}


def test_totals_are_for_those_who_see_all_runs_of_the_skill(counted, alice, charlie, administrator):
    for user, sees_all, expected in ((alice, True, 4), (administrator, True, 4), (charlie, False, 3)):
        actor = Actor(user=user)
        assert sees_all_runs(counted, actor) is sees_all
        assert skill_statistics(counted, actor).counts.runs == expected
        assert runs_by_version(counted, actor).total() == expected
        assert sum(row.runs for row in DailyRuns.objects.visible_to(actor)) == expected
        assert Run.objects.visible_to(actor).count() == expected


def test_migration_adds_the_totals_that_counting_adds(counted):
    expected = _figures()
    _TOTALS.remove_totals(apps, None)
    assert len(_figures()) < len(expected)
    _TOTALS.add_totals(apps, None)
    _ROUNDED.round_durations(apps, SimpleNamespace(connection=connection))
    _ROUNDED.merge_totals(apps, None)
    _MERGED.merge_outcomes(apps, None)
    assert _figures() == expected


def test_migration_restores_the_totals_of_each_outcome_backwards(counted):
    expected = _figures()
    _MERGED.split_outcomes(apps, None)
    totals = DailyRuns.objects.totals().exclude(status="")
    assert {row.status: row.runs for row in totals} == {"succeeded": 3, "failed": 1}
    _MERGED.merge_outcomes(apps, None)
    assert _figures() == expected


def test_totals_are_read_from_their_index(counted):
    days = DailyRuns.objects.totals().filter(skill=counted, day__gte=timezone.now().date())
    if connection.vendor == "sqlite":  # PostgreSQL reads a small table without an index
        assert "daily_runs_total" in days.explain()


def test_durations_have_two_significant_digits(varied, alice):
    roll_up_all()
    (total,) = DailyRuns.objects.totals()
    assert total.durations == {"0": 2, "1200": 4, "1300": 2, "1.2e+07": 2}
    (version,) = skill_statistics(varied, Actor(user=alice)).versions
    assert (version.counts.runs, version.p50_ms, version.p95_ms) == (10, 1200, 12_000_000)


def test_migration_rounds_the_durations_of_earlier_releases(varied, monkeypatch, alice):
    roll_up_all()
    expected, statistics = _figures(), skill_statistics(varied, Actor(user=alice))
    DailyRuns.objects.all().delete()
    Run.objects.update(is_counted=False)
    monkeypatch.setattr(roll_up, "rounded_duration", _three_digits)
    roll_up_all()
    _TOTALS.remove_totals(apps, None)
    _TOTALS.add_totals(apps, None)
    assert "1.23e+07" in str(_figures())
    _ROUNDED.round_durations(apps, SimpleNamespace(connection=connection))
    _ROUNDED.merge_totals(apps, None)
    _MERGED.merge_outcomes(apps, None)
    assert _figures() == expected
    assert skill_statistics(varied, Actor(user=alice)) == statistics


def _three_digits(started, finished):
    return f"{float(f'{(finished - started) / timedelta(milliseconds=1):.3g}'):g}"
