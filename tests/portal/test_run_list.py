"""Filters with counts, chart and CSV of the list of runs."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest

from portal.pages.runs.forms import run_filter
from portal.pages.runs.presenters import run_rows
from portal.pages.runs.presenters.run_rows import CSV_COLUMNS
from tests.factories.runs import make_past_run, make_run
from tests.pages import part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P8")]
DAY = timedelta(days=1)


def _options(page, name):
    [found] = select(page, "select", name=name)
    return {option["value"]: option.text for option in found.tags("option")}


def _count(options, value):
    """The count in an option's label, for example 2 in ``Failed (2)``."""
    return int(options[value].rpartition("(")[2].rstrip(")") or 0) if "(" in options[value] else 0


def test_filters_count_what_the_other_filters_leave(browse, bob, public, team):
    make_run(public.latest, bob, team, version_number="0.9.0", token_name="agent")
    make_run(public.latest, bob, team, version_number="0.9.0", status="failed", failure_code="TIMEOUT")
    make_run(public.latest, bob, team, status="lost", failure_code="RUN_LOST")
    page = browse(bob).get("/runs/?version=0.9.0")
    status, caller = _options(page, "status"), _options(page, "caller")
    assert [_count(status, value) for value in ("succeeded", "failed", "failure", "lost")] == [1, 1, 1, 0]
    assert [_count(caller, value) for value in ("me", "agents", "people")] == [2, 1, 1]
    assert _count(_options(page, "since"), "1h") == 2
    assert set(_options(page, "failure_code")) == {"", "TIMEOUT"}
    versions = _options(page, "version")
    assert {value: _count(versions, value) for value in versions} == {
        "": 0,
        public.latest.number: 1,
        "0.9.0": 2,
    }
    assert parts(page, "counted") == []


def test_filters_offer_nothing_of_hidden_runs(browse, charlie, bob, private, team):
    make_run(private.latest, bob, team, version_number="0.9.0", status="failed", failure_code="TIMEOUT")
    page = browse(charlie).get("/runs/?version=0.9.0")
    assert [_options(page, name).keys() for name in ("skill", "team", "failure_code")] == [{""}] * 3
    assert _count(_options(page, "status"), "failed") == _count(_options(page, "version"), "0.9.0") == 0


def test_list_says_that_counts_cover_only_the_newest_runs(browse, bob, public, team, monkeypatch):
    monkeypatch.setattr(run_filter, "_COUNTED", 2)
    for _ in range(3):
        make_run(public.latest, bob, team)
    page = browse(bob).get("/runs/")
    assert part(page, "counted")
    assert _count(_options(page, "status"), "succeeded") == 2


def test_list_needs_few_queries(browse, bob, public, team, django_assert_max_num_queries):
    for number in range(10):
        make_run(public.latest, bob, team, version_number=f"1.{number}.0")
    client = browse(bob)
    client.get("/runs/")
    with django_assert_max_num_queries(13):  # five of them for session, user, teams and the badges
        page = client.get("/runs/?status=succeeded&caller=me")
    assert len(parts(page, "run")) == 10


def test_chart_links_each_run_by_shape_and_title(browse, bob, public, team):
    runs = [make_run(public.latest, bob, team) for _ in range(4)]
    runs.append(make_run(public.latest, bob, team, status="failed", failure_code="TIMEOUT"))
    chart = part(browse(bob).get("/runs/"), "chart")
    assert [link["href"] for link in chart.tags("a")] == [f"/runs/{run.uid}/" for run in reversed(runs)]
    assert [use["href"] for use in chart.tags("use")] == ["#dot-failure"] + ["#dot-success"] * 4
    title = chart.tags("title")[0]
    for text in (f"#{runs[-1].number}", "docs/kind-review", "Failed", "2.1 s"):
        assert text in title
    assert [mark.text for mark in chart.select("div", class_="axis")[0].tags("span")] == [
        "5.0 s",
        "1.2 s",
        "0",
    ]
    assert len(chart.tags("time")) == 3


def test_cut_csv_ends_with_a_note(browse, bob, public, team, monkeypatch):
    monkeypatch.setattr(run_rows, "MAX_CSV_ROWS", 2)
    client, full = browse(bob), [len(CSV_COLUMNS)] * 3
    for number, cells in ((2, full), (3, [*full, 1])):
        while Run.objects.count() < number:
            make_run(public.latest, bob, team)
        text = b"".join(client.get("/runs/?format=csv").streaming_content).decode("utf-8-sig")
        assert [len(row) for row in csv.reader(io.StringIO(text))] == cells


def test_days_select_the_runs_of_these_days_in_lists_and_batches(browse, bob, public, team):
    old, new = (make_past_run(public.latest, bob, team, days) for days in (9, 2))
    client, day = browse(bob), new.created_at.date()
    page = client.get(f"/runs/?day={day}")
    assert [row["value"] for row in parts(page, "run")] == [new.uid]
    assert part(page, "batch-form").select("input", name="day")[0]["value"] == str(day)
    assert [row["value"] for row in parts(client.get(f"/runs/?day={day - 7 * DAY}&days=7"), "run")] == [
        old.uid
    ]
    batch = client.get(f"/runs/batches/new/?day={day - 7 * DAY}&days=7&action=repeat")
    assert part(batch, "filter")["value"] == "since until"
    assert [row["value"] for row in parts(batch, "sample")] == [old.uid]
    assert client.get("/runs/?day=9999-12-31&days=366").status_code == 200


def test_an_invalid_filter_opens_the_filters_and_offers_no_batch(browse, bob, public, team):
    make_run(public.latest, bob, team)
    client = browse(bob)
    assert parts(client.get("/runs/?status=succeeded"), "batch-form")
    assert "open" not in part(client.get("/runs/?status=succeeded"), "filter-fold").attributes
    page = client.get("/runs/?status=nonsense")
    assert "open" in part(page, "filter-fold").attributes
    assert not parts(page, "batch-form")
