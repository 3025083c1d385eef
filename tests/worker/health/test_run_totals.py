"""Totals of ended runs: the same figures however many of them are stored sums."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import Count
from django.utils import timezone

from tests.factories.runs import make_run
from worker.health import run_totals as totals
from worker.health.run_totals import Sums
from worker.models import Run, RunTotals

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9", "P6")]


def _end(version, user, *, seconds, ago=3600, **fields):
    finished = timezone.now() - timedelta(seconds=ago)
    started = finished - timedelta(seconds=seconds) if seconds is not None else None
    return make_run(version, user, None, started_at=started, finished_at=finished, **fields)


@pytest.fixture
def ended(hello, alice):
    _end(hello, alice, seconds=0.05)
    _end(hello, alice, seconds=0.06, attempt=2)
    _end(hello, alice, seconds=2000)
    _end(hello, alice, seconds=20, status="failed", failure_code="SCRIPT_FAILED")
    _end(hello, alice, seconds=20, status="failed", failure_code="<b>MADE UP</b>")
    _end(hello, alice, seconds=None, status="cancelled", failure_code="CANCELLED")
    make_run(hello, alice, None, status="running", finished_at=None)
    return hello


EXPECTED = {
    ("succeeded", "", 0): Sums(2, 3, 0.11),
    ("succeeded", "", len(totals.BUCKETS_S)): Sums(1, 1, 2000.0),
    ("failed", "other", 6): Sums(1, 1, 20.0),
    ("cancelled", "CANCELLED", totals.NEVER_STARTED): Sums(1, 1, 0.0),
}


def _rounded():
    return {key: Sums(s.runs, s.attempts, round(s.seconds, 2)) for key, s in totals.run_totals().items()}


def _without_script_codes(found):
    return {key: sums for key, sums in found.items() if key[0] != "failed" or key[1] == "other"}


def test_ended_runs_are_counted_by_status_code_and_duration(ended):
    assert _without_script_codes(_rounded()) == EXPECTED


def test_moving_sums_changes_no_figure(ended, alice):
    before = _rounded()
    totals.move_forward()
    assert RunTotals.objects.get().sums
    assert _rounded() == before
    _end(ended, alice, seconds=0.01, ago=1)
    after = _rounded()
    assert after[("succeeded", "", 0)].runs == 3
    totals.move_forward()
    assert _rounded() == after


def test_stored_sums_are_not_counted_again(ended, django_assert_num_queries):
    totals.move_forward()
    Run.objects.update(finished_at=timezone.now() - timedelta(days=2))  # as if these rows were not read
    with django_assert_num_queries(2):
        assert sum(sums.runs for sums in totals.run_totals().values()) == 6


def test_runs_that_just_ended_are_not_stored_yet(hello, alice):
    """A transaction may commit after its time, so the last minute is counted each time."""
    _end(hello, alice, seconds=1, ago=1)
    totals.move_forward()
    assert RunTotals.objects.aggregate(rows=Count("pk")) == {"rows": 1}
    assert RunTotals.objects.get().sums == []
    assert sum(sums.runs for sums in totals.run_totals().values()) == 1
