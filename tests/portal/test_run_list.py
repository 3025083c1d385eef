"""The list of runs: rows, filters with counts, chart, CSV and actions."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.pages.runs.forms import run_filter
from portal.pages.runs.presenters import run_rows
from portal.pages.runs.presenters.run_rows import CSV_COLUMNS
from portal.pages.runs.views.run_list import PAGE
from portal.presenters.charts import dots
from registry.models import Skill
from tests.architecture.sources import ROOT
from tests.checks import not_none
from tests.factories.runs import make_past_run, make_run
from tests.factories.skills import publish_files
from tests.pages import messages, part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P8")]
DAY = timedelta(days=1)


def _options(page, name):
    [found] = select(page, "select", name=name)
    return {option["value"]: option.text for option in found.tags("option")}


def _suggestions(page):
    """The number of runs of each skill that the filter suggests."""
    [found] = select(page, "datalist", id="skill-list")
    return {option["value"]: int(option.text) for option in found.tags("option")}


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
    assert not [each for name in ("team", "failure_code") for each in select(page, "select", name=name)]
    assert _suggestions(page) == {}
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
    page = browse(bob).get("/runs/")
    chart = part(page, "chart")
    assert [link["href"] for link in chart.tags("a")] == [f"/runs/{run.uid}/" for run in reversed(runs)]
    assert [use["href"] for use in chart.tags("use")] == ["#dot-failure"] + ["#dot-success"] * 4
    title = chart.tags("title")[0]
    for text in (f"#{runs[-1].number}", "docs/kind-review", "Failed", "2.1 s"):
        assert text in title
    assert [mark.text for mark in chart.select("div", class_="axis")[0].tags("span")] == ["10 s", "1 s"]
    assert [time.text.count(":") for time in chart.tags("time")] == [2]  # with seconds
    Run.objects.filter(pk=runs[0].pk).update(created_at=runs[0].created_at - timedelta(seconds=1))
    assert 1 <= float(part(browse(bob).get("/runs/"), "span")["value"]) < 3
    for minutes, colons, hyphens in ((6, 2, 0), (20, 1, 0), (3000, 1, 2)):
        Run.objects.filter(pk=runs[0].pk).update(created_at=timezone.now() - timedelta(minutes=minutes))
        times = [time.text for time in part(browse(bob).get("/runs/"), "chart").tags("time")]
        count = 2 if hyphens else 3  # three labels with dates are too wide for a phone
        assert [time.count(":") for time in times] == [colons] * count
        assert times[-1].count("-") == hyphens  # the date, also of today


def test_duration_scale_is_logarithmic_with_marks_at_powers_of_ten(public, bob, team):
    run = make_run(public.latest, bob, team)
    for durations, marks in (
        ((20, 1_000, 1_000, 1_000, 40_000), ["100", "10", "1", "0.1", "0.01"]),
        ((0.2, 5, 5, 5, 30_000_000), ["100000", "1000", "10", "0.1", "0.001"]),
        ((1_000,) * 5, ["10", "1"]),
    ):
        chart = dots([(run, each) for each in durations])
        assert [mark for mark, _y in chart["marks"]] == marks
        heights = dict(chart["marks"])
        assert (heights[marks[0]], heights[marks[-1]]) == ("8.0%", "92.0%")
        if "1" in marks:
            assert chart["dots"][1]["y"] == heights["1"]
        assert all(8 <= float(dot["y"][:-1]) <= 92 for dot in chart["dots"])


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


def test_an_invalid_filter_has_one_notice_and_offers_no_batch(browse, bob, public, team):
    make_run(public.latest, bob, team)
    client = browse(bob)
    assert parts(client.get("/runs/?status=succeeded"), "batch-form")
    assert "open" not in part(client.get("/runs/?status=succeeded"), "filter-fold").attributes
    for query, kept in (("status=nonsense", "?"), ("status=nonsense&version=1.0.0&days=0", "?version=1.0.0")):
        page = client.get(f"/runs/?{query}")
        assert "open" in part(page, "filter-fold").attributes
        assert not parts(page, "batch-form")
        assert not select(page, "ul", class_="errorlist")
        notice = part(page, "invalid-filters")
        assert "nonsense" in notice
        assert ("All runs are shown." in notice) == (kept == "?")
        assert [link["href"] for link in notice.tags("a")] == [kept]
    assert not parts(client.get("/runs/?status=failed"), "invalid-filters")


def test_bulk_bar_counts_the_selected_runs(browse, bob, public, team):
    make_run(public.latest, bob, team)
    (bar,) = select(browse(bob).get("/runs/"), "div", class_="bulk")
    assert len(bar.tags("b")) == 1
    styles = (ROOT / "portal/static/skillquay.css").read_text()
    assert ".bulk b::after { content: counter(n); }" in styles
    assert "td :checked { counter-increment: n; }" in styles


@pytest.fixture
def two_skills(public, bob, team, alice):
    """A run of docs/kind-review and one of docs/csv-profile, whose name is “CSV 分析”."""
    head = "---\nname: csv-profile\ndescription: Profiles tables.\nversion: 1.0.0\n---\n# Profile\n"
    files = {"SKILL.md": head.encode(), "scripts/profile.py": b"print(1)\n"}
    other = publish_files(files, team=team, user=alice, visibility="public").skill
    Skill.objects.filter(pk=other.pk).update(name="CSV 分析")
    return [make_run(not_none(skill.latest), bob, team) for skill in (public, other)]


@pytest.mark.parametrize(("text", "listed"), [("CSV-pro", 1), ("分析", 1), ("-", 2), ("docs/csv", 0)])
def test_part_of_a_skills_name_narrows_the_list(text, listed, browse, bob, two_skills):
    page = browse(bob).get("/runs/", {"skill": text})
    assert len(parts(page, "run")) == listed
    if listed == 1:
        assert [row["value"] for row in parts(page, "run")] == [two_skills[1].uid]
    assert select(page, "input", name="skill")[0]["value"] == text


def test_skill_filter_suggests_the_skills_that_the_other_filters_leave(browse, bob, two_skills):
    client = browse(bob)
    assert _suggestions(client.get("/runs/")) == {"docs/kind-review": 1, "docs/csv-profile": 1}
    assert len(_suggestions(client.get("/runs/?skill=csv"))) == 2
    assert _suggestions(client.get("/runs/?status=failed")) == {}


def test_batch_of_a_narrowed_list_has_the_same_runs(browse, bob, two_skills):
    client = browse(bob)
    form = part(client.get("/runs/?skill=csv"), "batch-form")
    assert form.select("input", name="skill")[0]["value"] == "csv"
    batch = client.get("/runs/batches/new/?skill=csv&action=repeat")
    assert [row["value"] for row in parts(batch, "sample")] == [two_skills[1].uid]
    assert "skill_contains" in part(batch, "filter")["value"].split()


def test_present_name_of_a_hidden_skill_finds_no_runs(browse, charlie, two_skills):
    run = two_skills[1]
    Run.objects.filter(pk=run.pk).update(caller=charlie, team=None)
    Skill.objects.filter(pk=run.skill_id).update(slug="secret-plan", visibility="private")
    client = browse(charlie)
    assert len(parts(client.get("/runs/"), "run")) == 1
    assert not parts(client.get("/runs/?skill=secret"), "run")


def test_filters_count_statuses_periods_and_callers_in_groups(browse, bob, alice, public, team):
    make_run(public.latest, bob, team, status="waiting_approval", started_at=None)
    make_run(public.latest, alice, team, status="timed_out", created_at=timezone.now() - 3 * DAY)
    page = browse(bob).get("/runs/?caller=me")
    assert _count(_options(page, "status"), "waiting") == 1
    assert [pill["value"] for pill in parts(page, "active")] == ["1", "0"]
    assert parts(page, "active")[0]["href"] == "?caller=me&status=waiting"
    assert [pill["value"] for pill in parts(browse(bob).get("/runs/?caller=alice"), "active")] == ["0", "0"]
    assert _count(_options(page, "status"), "failure") == 0
    assert [_count(_options(page, "caller"), value) for value in ("me", "people", "alice")] == [1, 2, 1]
    page = browse(bob).get("/runs/?since=24h")
    assert [_count(_options(page, "since"), value) for value in ("1h", "24h", "7d")] == [1, 1, 2]
    assert _count(_options(page, "status"), "failure") == 0
    page = browse(bob).get("/runs/?status=failure&caller=people")
    assert [_count(_options(page, "caller"), value) for value in ("me", "people", "agents")] == [0, 1, 0]


def test_list_shows_inputs_outcome_and_times_and_filters_by_its_address(browse, bob, public, team):
    good = make_run(public.latest, bob, team)
    bad = make_run(
        public.latest, bob, team, status="failed", failure_code="DATA_NOT_FOUND", message="No rows."
    )
    client = browse(bob)
    page = client.get("/runs/").content.decode()
    for text in ("report · city=北京 · days=7", "Seven days read.", "No rows.", "DATA_NOT_FOUND"):
        assert text in page
    for query, shown, hidden in (
        ("status=failed", bad, good),
        ("failure_code=data_not_found", bad, good),
        ("status=succeeded&caller=me&since=1h", good, bad),
        ("status=failure", bad, good),
    ):
        page = client.get(f"/runs/?{query}").content.decode()
        assert shown.uid in page
        assert hidden.uid not in page
    assert part(client.get("/runs/?skill=docs/other"), "empty")["state"] == "filtered"
    assert client.get("/runs/?status=nonsense&since=x&caller=%00").status_code == 200


def test_a_skills_runs_count_its_failure_codes(browse, bob, public, team):
    for _ in range(3):
        make_run(public.latest, bob, team, status="failed", failure_code="MISSING_PARAM")
    page = browse(bob).get("/skills/docs/kind-review/runs/")
    [option] = select(page, "option", value="MISSING_PARAM")
    assert "(3)" in option


def test_lists_filter_by_version_and_request_id(browse, bob, charlie, public, team):
    old = make_run(public.latest, bob, team, version_number="0.9.0")
    new = make_run(public.latest, bob, team, request_id="request-2")
    hidden = make_run(public.latest, charlie, None, request_id="request-2")
    client = browse(bob)
    for path in ("/runs/", f"/skills/{public}/runs/"):
        for query, shown in {"version=0.9.0": old, "request_id=request-2": new}.items():
            page = client.get(f"{path}?{query}").text
            assert [run.uid in page for run in (old, new, hidden)] == [shown == old, shown == new, False]
    page = client.get(f"/skills/{public}/runs/").text
    versions = [cell.text.strip() for cell in parts(page, "version")]
    assert versions == [hidden.version_number, new.version_number, "0.9.0"]
    assert 'name="request_id"' not in page


@pytest.mark.row("P5", "P8")
def test_lists_refuse_unknown_filters_and_link_to_the_known_ones(browse, bob, public, team):
    run = make_run(public.latest, bob, team)
    client = browse(bob)
    for path in ("/runs/", f"/skills/{public}/runs/"):
        page = client.get(f"{path}?version=0.9.0&versoin=1&status=failed&format=csv")
        assert page.status_code == 400
        assert run.uid not in page.text
        assert 'data-code="QUERY_UNKNOWN"' in page.text
        assert "?version=0.9.0&amp;status=failed&amp;format=csv" in page.text
    assert client.get(f"/skills/{public}/runs/?skill=docs/other").status_code == 400


def test_list_shows_the_cause_of_a_failure(browse, bob, public, team):
    cause = {"type": "ValueError", "message": "no column 'date'", "file": "scripts/a.py", "line": 3}
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED"}
    make_run(public.latest, bob, team, message="the script ended with exit code 1", cause=cause, **failed)
    page = browse(bob).get("/runs/").text
    assert "ValueError: no column &#x27;date&#x27;" in page
    assert "exit code 1" not in page


def test_long_lists_continue_with_older_runs(browse, bob, public, team):
    runs = [make_run(public.latest, bob, team, request_id=str(n)) for n in range(PAGE + 3)]
    client = browse(bob)
    page = client.get("/runs/?caller=me").content.decode()
    assert runs[-1].uid in page
    assert page.count('class="dot ') == PAGE
    older = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "caller=me" in older
    rest = client.get(f"/runs/{older}").content.decode()
    assert runs[0].uid in rest
    assert runs[-1].uid not in rest


def test_empty_list_names_the_first_step(browse, bob):
    empty = part(browse(bob).get("/runs/"), "empty", state="none")
    assert [link["href"] for link in empty.tags("a")] == ["/skills/"]
    assert browse().get("/runs/").status_code == 302


def test_filters_count_the_values_of_the_newest_runs(browse, bob, public, team):
    make_run(public.latest, bob, team, version_number="0.9.0", token_name="agent")
    make_run(public.latest, bob, team, status="failed", failure_code="TIMEOUT")
    client = browse(bob)
    for query, uids in {
        "caller=agents": 1,
        "caller=people": 1,
        "caller=bob": 2,
        "team=docs": 2,
        "team=x": 0,
    }.items():
        assert len(parts(client.get(f"/runs/?{query}"), "run")) == uids
    [select_version] = select(client.get("/runs/?version=7.0.0"), "select", name="version")
    values = [option["value"] for option in select_version.tags("option")]
    assert sorted(values) == ["", public.latest.number, "0.9.0", "7.0.0"]
    assert "0.9.0 (1)" in select_version


def test_list_as_csv_has_causes_only_of_readable_runs(browse, bob, charlie, public, team):
    cause = {"type": "ValueError", "message": "bad row", "file": "", "line": None}
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED", "cause": cause}
    make_run(public.latest, bob, team, token_name="=cmd()", **failed)
    make_run(public.latest, charlie, charlie.memberships.get().team, **failed)
    answer = browse(bob).get("/runs/?format=csv&status=failed")
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert answer["Content-Disposition"].startswith("attachment")
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [row["cause"] for row in rows] == ["", "ValueError: bad row"]
    assert rows[1]["token"] == "'=cmd()"


def test_selected_runs_are_cancelled_and_failures_reported(browse, bob, charlie, public, team):
    queued = {"status": "queued", "started_at": None, "finished_at": None, "attempt": 0}
    waiting, ended = make_run(public.latest, bob, team, **queued), make_run(public.latest, bob, team)
    theirs = make_run(public.latest, charlie, charlie.memberships.get().team, **queued)
    sent = {"action": "cancel", "run": [waiting.uid, ended.uid, theirs.uid], "next": "/runs/?status=failed"}
    answer = browse(bob).post("/runs/actions/", sent, follow=True)
    assert answer.redirect_chain[0][0] == "/runs/?status=failed"
    assert messages(answer) == ["success", "error"]
    for run, status in ((waiting, "cancelled"), (ended, "succeeded"), (theirs, "queued")):
        run.refresh_from_db()
        assert run.status == status
    answer = browse(bob).post("/runs/actions/", {"action": "compare", "run": [waiting.uid, ended.uid]})
    first, second = sorted((waiting.uid, ended.uid))
    assert answer["Location"] == f"/runs/compare/?run={first}&run={second}"
    assert browse(bob).post("/runs/actions/", {"action": "stop", "run": [waiting.uid]}).status_code == 400
    answer = browse(bob).post("/runs/actions/", {"action": "cancel", "next": "https://evil.example/"})
    assert answer["Location"] == "/runs/"
