from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.usage import recording
from tests.factories.runs import make_run
from tests.pages import part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9", "P6")]
ADDRESS = "/skills/docs/weekly-report/usage/"


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
    assert (
        len(select(page, "rect", class_="bar")) == 5
    )  # three kinds of one day, and two ends of runs of another
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


def test_an_unused_skill_says_so(browse, alice, public):
    page = browse(alice).get("/skills/docs/kind-review/usage/").content.decode()
    assert parts(page, "empty", state="unused")
    assert not select(page, "rect", class_="bar")


def test_a_stranger_of_a_private_skill_sees_none_of_it(browse, charlie, used):
    assert browse(charlie).get(ADDRESS).status_code == 404
    assert browse().get(ADDRESS).status_code == 404


def test_a_stranger_of_a_public_skill_sees_its_uses_and_no_run(browse, charlie, bob, team, public):
    recording.record_use(public, "user:1", "load")
    make_run(public.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    page = browse(charlie).get("/skills/docs/kind-review/usage/").content.decode()
    assert len(select(page, "rect", class_="bar")) == 1
    assert "SCRIPT_FAILED" not in page


@pytest.mark.row("P11")
def test_each_bar_names_its_day_kind_and_count(browse, bob, used):
    titles = {bar.tags("title")[0].text for bar in select(browse(bob).get(ADDRESS), "rect", class_="bar")}
    day = Run.objects.earliest("created_at").created_at  # yesterday, if the test runs just after midnight
    assert f"{day:%Y-%m-%d} · Other outcomes: 1" in titles
