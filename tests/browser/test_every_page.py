"""Every page of the demo site: accessible, and no wider than the screen, in both themes and languages."""

from __future__ import annotations

import pytest

from registry.events.receive import IncomingEvent, receive
from registry.identity.actors import Actor
from registry.models import Import, Source, Team, User
from registry.packages.errors import FRONT_MATTER_MISSING
from registry.versions.publishing.version_rows import serialize_problem
from tests.demo.screenshots import ADMINISTRATION, PAGES, SIGNED_OUT, sign_in
from tests.demo.seed import seed
from tests.factories.runs import add_log, add_step
from worker.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P11", "P8")]
GROUPS = 4  # of pages
LOOKS = {
    "light-360": {"color_scheme": "light"},
    "dark-1280": {"color_scheme": "dark"},
    "chinese-dark-360": {"color_scheme": "dark", "locale": "zh-CN"},
    "chinese-light-1280": {"color_scheme": "light", "locale": "zh-CN"},
}


def _run_pages() -> list[str]:
    """The pages of a succeeded, a failed and an active run."""
    pages = []
    for status in ("succeeded", "failed", "running"):
        run = (
            Run.objects.filter(status=status, skill__slug="csv-profile").last()
            or Run.objects.filter(status=status)[0]
        )
        add_log(run, ("stderr", "Reading orders.csv\nValueError: no column 'date'\n"))
        add_step(run, 1, "read", input={"path": "orders.csv"}, error="no column 'date'")
        pages.append(f"/runs/{run.uid}/")
    return pages


def _report_pages() -> list[str]:
    """The pages of an event and of an import with a refused package."""
    team, alice = Team.objects.get(slug="data-platform"), User.objects.get(username="alice")
    incoming = IncomingEvent("report.filed", {"title": "Week 47"}, "evt_1")
    event = receive(incoming, Actor(user=alice), team=team).event
    source = Source.objects.create(team=team, kind="git", location="https://git.example/a.git")
    report = Import.objects.create(source=source, requested_by=alice, status="done", total=1, processed=1)
    problems = [serialize_problem(FRONT_MATTER_MISSING.problem().at("SKILL.md", 1))]
    report.rows.create(path="deep/er/two", outcome="refused", problems=problems)
    return [f"/events/{event.uid}/", f"/imports/{report.uid}/"]


@pytest.mark.full
@pytest.mark.slow(reason="a browser visits a quarter of all pages")
@pytest.mark.matrix("name", "group", full_at_most=4)
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize(("name", "look"), LOOKS.items(), ids=LOOKS)
def test_pages_are_accessible_and_fit_the_screen(page, axe, name, group, look, administrator):
    seed(runs=60)
    page.set_viewport_size({"width": int(name.rpartition("-")[2]), "height": 900})
    if group == 0:
        for path in SIGNED_OUT:
            _examine(page, axe, path)
    paths = [path for path in PAGES if "/examples/" not in path] + _run_pages() + _report_pages()
    sign_in(page, "alice")
    for path in paths[group::GROUPS]:
        _examine(page, axe, path)
    page.context.clear_cookies()
    sign_in(page, administrator.username, f"{administrator.username}-password")
    for path in (*ADMINISTRATION, f"/site/users/{administrator.uid}/")[group::GROUPS]:
        _examine(page, axe, path)


_TAB_OUTSIDE = """
[...document.querySelectorAll(".tabs [aria-current]")].map(tab => tab.getBoundingClientRect())
    .some(box => box.x < 0 || box.right > innerWidth)
"""


def _examine(page, axe, path):
    assert page.goto(path).status < 500, path
    excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert excess <= 0, f"{path} is {excess} px wider than the screen"
    assert not page.evaluate(_TAB_OUTSIDE), f"{path} opens with its tab outside the screen"
    axe()
