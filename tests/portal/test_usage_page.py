from __future__ import annotations

from datetime import timedelta
from urllib.parse import urljoin

import pytest
from django.utils import timezone

from portal.pages.usage.presenters import version_lines
from registry.identity.actors import Actor
from registry.models import User, UserKind, Version
from registry.models.identity import new_uid
from registry.usage import recording
from tests.factories.runs import make_past_run, make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import actions, part, parts, select
from worker.daily_runs.run_counts import count_runs
from worker.failures.recount import group_earlier_runs
from worker.models import DailyRuns, Run
from worker.models.daily_runs import TOTAL_KEY
from worker.run_views import callers
from worker.run_views.statistics import RunDay

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9", "P6")]
ADDRESS = "/skills/docs/weekly-report/usage/"
MAX_BYTES = 60_000


@pytest.fixture
def used(private, alice, bob, team):
    now = timezone.now()
    for n, kind in enumerate(("run", "run", "load", "install")):
        recording.record_use(private, f"user:{n}", kind, version="1.0.0", now=now - timedelta(days=7))
    for code in ("", "", "", "SCRIPT_FAILED"):
        status = "failed" if code else "succeeded"
        make_run(private.latest, bob, team, status=status, failure_code=code)
    return private


def test_the_page_says_how_the_score_came_about_and_draws_every_kind(browse, bob, used):
    page = browse(bob).get(ADDRESS).content.decode()
    assert "2.00 = 4 × 0.500" in page
    assert len(select(page, "path", class_="bar")) == 5  # three kinds of a week, and two outcomes of a day
    assert ["2", "1", "1", "0"] in [[cell.text for cell in row.tags("td")] for row in select(page, "tr")]


def test_the_page_says_which_versions_are_used(browse, bob, private):
    recording.record_use(private, "user:1", "run", version="1.2.0")
    recording.record_use(private, "user:2", "load", version="9.9.9")  # it is gone
    _head, row = part(browse(bob).get(ADDRESS), "uses-by-version").tags("tr")  # 9.9.9 has none
    assert [cell.text for cell in row.tags("th", "td")] == ["1.2.0", "1", "0", "0", "0"]
    assert [link["href"] for link in row.tags("a")] == ["/skills/docs/weekly-report/1.2.0/"]


def test_the_page_says_how_the_runs_of_each_version_went(browse, bob, used):
    page = browse(bob).get(ADDRESS).content.decode()
    assert "75%" in page
    assert "SCRIPT_FAILED" in page
    assert "2.1 s" in page


def test_version_row_has_every_code_of_its_runs(browse, bob, used, team):
    for code in ("TIMEOUT", "MEMORY_LIMIT", "WORKER_LOST"):
        make_run(used.latest, bob, team, status="failed", failure_code=code)
    row = part(browse(bob).get(ADDRESS), "version-statistics")
    codes = [link["href"].partition("failure_code=")[2] for link in row.tags("a")[1:]]
    assert sorted(codes) == ["MEMORY_LIMIT", "SCRIPT_FAILED", "TIMEOUT", "WORKER_LOST"]
    folded = row.tags("details")[0]
    assert [link["href"].partition("failure_code=")[2] for link in folded.tags("a")] == codes[3:]


def test_version_with_many_codes_links_to_its_failed_runs(browse, bob, used, team):
    codes = [f"CODE_{n}" for n in range(9)]
    for code in codes:
        make_run(used.latest, bob, team, status="failed", failure_code=code)
    client = browse(bob)
    row = part(client.get(ADDRESS), "version-statistics")
    _version, *links, everything = row.tags("a")
    assert len(links) == 8
    assert len(parts(client.get(urljoin(ADDRESS, everything["href"])), "run")) == 10


def test_an_unused_skill_says_so(browse, alice, public):
    page = browse(alice).get("/skills/docs/kind-review/usage/").content.decode()
    assert parts(page, "empty", state="unused")
    assert not select(page, "path", class_="bar")


def test_a_stranger_of_a_private_skill_sees_none_of_it(browse, charlie, used):
    assert browse(charlie).get(ADDRESS).status_code == 404
    assert browse().get(ADDRESS).status_code == 404


def test_a_stranger_of_a_public_skill_sees_its_uses_and_no_run(browse, charlie, bob, team, public):
    recording.record_use(public, "user:1", "load")
    make_run(public.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    page = browse(charlie).get("/skills/docs/kind-review/usage/").content.decode()
    assert len(select(page, "path", class_="bar")) == 1
    assert "SCRIPT_FAILED" not in page


@pytest.mark.row("P11")
def test_each_column_names_its_day_and_counts_and_lists_its_runs(browse, bob, used):
    day = Run.objects.earliest("created_at").created_at  # yesterday, if the test runs just after midnight
    client = browse(bob)
    page = client.get(ADDRESS)
    links = {link.tags("title")[0].text: link["href"] for link in select(page, "a") if link.tags("title")}
    column = links[f"{day:%Y-%m-%d} · Succeeded: 3 · Failed: 1"]
    assert len(parts(client.get(urljoin(ADDRESS, column)), "run")) == 4
    other = day.date() - timedelta(days=1)
    assert not parts(client.get(f"{ADDRESS}../runs/?day={other}"), "run")


@pytest.fixture
def two_versions(used, alice, bob, team):
    """Version 1.2.0, which succeeds in 2 s, and 1.3.0, which fails half of the time; in two weeks each."""
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    for days in (30, 20):
        make_past_run(used.versions.get(number="1.2.0"), bob, team, days, is_counted=False)
        for code in ("", "SCRIPT_FAILED"):
            make_past_run(
                newer, bob, team, days - 8, status="failed" if code else "succeeded", is_counted=False
            )
    return used


def test_lines_show_success_rate_and_durations_of_each_version_with_releases(browse, bob, two_versions):
    page = browse(bob).get(ADDRESS)
    titles = [title.text.partition(" · ")[2] for title in part(page, "rates").tags("title")]
    assert titles.count("1.2.0: 100% (1/1)") == 2
    assert titles.count("1.3.0: 50% (1/2)") == 2
    assert {"1.2.0", "1.3.0"} <= {*titles}  # the releases
    durations = part(page, "durations")
    named = [title.text for title in durations.tags("title")]
    assert any("1.2.0 P50: 2.0 s" in each for each in named)
    assert any("1.3.0 P95: 2.0 s" in each for each in named)
    points = [link["href"] for link in durations.tags("a") if "version=1.2.0" in link["href"]]
    assert points
    values = browse(bob).get(f"{ADDRESS}?values=weeks")
    rows = [[cell.text for cell in row.tags("td")] for row in part(values, "weekly-values").tags("tr")]
    assert rows.count(["1.3.0", "1", "1", "50%", "2.0 s", "2.0 s"]) == 2


def test_releases_whose_labels_would_overlap_keep_those_of_the_newest():
    today = timezone.now()
    days = [RunDay(today.date() - timedelta(days=89 - n), count_runs([]), []) for n in range(90)]
    ages = {"1.0.0": 80, "1.1.0": 70, "1.2.0": 66, "1.3.0": 20, "1.3.1": 1}
    versions = [(number, today - timedelta(days=age)) for number, age in ages.items()]
    labels = {each.number: each.label for each in version_lines.releases(versions, days).newest}
    assert labels == {"1.0.0": "1.0.0", "1.1.0": "", "1.2.0": "1.2.0", "1.3.0": "1.3.0", "1.3.1": ""}


def test_vertical_axes_name_their_unit(browse, bob, used):
    page = browse(bob).get(ADDRESS)
    assert {"4 runs", "4 uses"} <= {span.text for span in select(page, "span", class_="nowrap")}


def test_causes_lead_to_their_error_groups(browse, bob, alice, used, team):
    assert sum(group_earlier_runs()) == 1
    (cause,) = parts(part(browse(bob).get(ADDRESS), "causes"), "cause")
    link = cause.tags("a")[0]["href"]
    assert link == f"/failures/{cause['value']}/"
    assert browse(bob).get(link).status_code == 200


def test_callers_are_people_agents_and_service_accounts_whose_runs_the_reader_can_see(
    browse, alice, bob, charlie, team, public
):
    page = "/skills/docs/kind-review/usage/"
    robot = User.objects.create(username="robot", kind=UserKind.SERVICE)
    make_run(public.latest, bob, team)
    make_run(public.latest, bob, team, status="failed")
    make_run(public.latest, bob, team, token_name="laptop")
    make_run(public.latest, robot, team, token_name="deploy")
    make_run(public.latest, charlie, None)
    make_run(public.latest, charlie, None, case_name="a test case")
    rows = [(row["kind"], row["value"]) for row in parts(browse(alice).get(page), "caller")]
    assert rows == [("person", "2"), ("agent", "1"), ("person", "1"), ("service", "1")]
    assert [row["kind"] for row in parts(browse(charlie).get(page), "caller")] == ["person"]
    assert not parts(browse().get(page), "callers")


def test_page_of_a_skill_with_many_runs_is_small_and_needs_few_queries(
    browse, bob, used, team, django_assert_max_num_queries
):
    client, numbers = browse(bob), [used.latest.number, "1.1.0", "1.0.0"]
    DailyRuns.objects.bulk_create(
        DailyRuns(
            skill=used, day=(timezone.now() - timedelta(days=days)).date(), version_number=number,
            team_key=TOTAL_KEY, caller_key=TOTAL_KEY, runs=3 * (1 + days % 7), durations={"2000": 3},
            outcomes={status: {"": 1 + days % 7} for status in ("succeeded", "failed", "timed_out")},
        )
        for days in range(90)
        for number in numbers
    )  # fmt: skip
    client.get(ADDRESS)
    with django_assert_max_num_queries(8):
        page = client.get(ADDRESS)
    assert len(parts(page, "version-statistics")) == 3
    assert len(page.content) < MAX_BYTES
    values = client.get(f"{ADDRESS}?values=weeks")
    assert len(part(values, "weekly-values").tags("tr")) > 4 * 90 // 7
    assert len(values.content) < MAX_BYTES


@pytest.fixture
def fifty_versions(used, alice, bob, team):
    """Versions 2.0.0 to 2.49.0 with daily runs for 90 days, three failure codes and uses each."""
    first = used.latest
    for number in range(50):
        row = Version.objects.get(pk=first.pk)
        row.pk, row.uid, row.number, row.precedence = (
            None,
            new_uid(),
            f"2.{number}.0",
            f"{first.precedence}{number:02}",
        )
        row.digest = f"sha256:{number:064}"
        row.save()
        Version.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=number))
        recording.record_use(used, f"user:{number}", "run", version=row.number)
        for code in ("SCRIPT_FAILED", "SCRIPT_OUTPUT_INVALID", "SECRET_NOT_GRANTED"):
            make_past_run(row, bob, team, 1, status="failed", failure_code=code, is_counted=False)
    DailyRuns.objects.bulk_create(
        DailyRuns(
            skill=used, day=(timezone.now() - timedelta(days=days)).date(), version_number=f"2.{number}.0",
            team_key=TOTAL_KEY, caller_key=TOTAL_KEY, runs=3 * (1 + days % 7), durations={"2000": 3},
            outcomes={status: {"": 1 + days % 7} for status in ("succeeded", "failed", "timed_out")},
        )
        for days in range(90)
        for number in range(50)
    )  # fmt: skip
    return used


def test_page_of_fifty_versions_shows_three_and_has_less_than_60_kb(browse, bob, fifty_versions):
    client = browse(bob)
    client.get(ADDRESS)
    page = client.get(ADDRESS)
    assert len(page.content) < MAX_BYTES
    assert len(parts(page, "version-statistics")) == len(part(page, "uses-by-version").tags("tr")[1:]) == 3
    assert {"rates"} <= {figure.attributes.get("data-part") for figure in select(page, "figure")}
    assert "all-versions" in actions(page)
    assert len(client.get(f"{ADDRESS}?values=weeks").content) < MAX_BYTES


def test_all_of_fifty_versions_have_pages_of_less_than_60_kb(browse, bob, fifty_versions):
    client, seen, uses = browse(bob), [], []
    for number in (1, 2, 3):
        page = client.get(f"{ADDRESS}?values=versions&versions={number}&uses={number}")
        assert len(page.content) < MAX_BYTES
        seen += [row["value"] for row in parts(page, "version-statistics")]
        uses += [row.tags("a")[0].text for row in part(page, "uses-by-version").tags("tr")[1:]]
        assert part(page, "durations")
    assert len(seen) == len(set(seen)) == 51
    assert set(uses) >= {f"2.{number}.0" for number in range(50)}


def test_callers_are_those_of_the_newest_runs(browse, alice, bob, charlie, team, public, monkeypatch):
    monkeypatch.setattr(callers, "MAX_RUNS", 2)
    for user in (charlie, bob, alice):
        make_run(public.latest, user, team)
    found = callers.callers_of(public, Actor(user=alice))
    assert ([row.name for row in found.rows], found.is_cut) == (["alice", "bob"], True)
