"""The shell of all pages: navigation, command palette, style guide, and the limits of styles and scripts."""

from __future__ import annotations

import re

import pytest

from portal.presenters.icons import ICONS
from tests.architecture.sources import ROOT
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import parsed, part, parts, select
from tests.plans import whole_reads

pytestmark = [pytest.mark.django_db, pytest.mark.row("P11")]
STATIC = ROOT / "portal/static"
COMPONENTS = {"type", "pill", "button", "card", "table", "filters", "form", "toast", "dialog", "states"}
COMPONENTS |= {"callout", "code", "chart", "sidebar", "icons"}


def _navigation(page):
    return set(re.findall(r'data-nav="([\w-]+)"', page.text))


def test_navigation_lists_what_each_role_may_open(browse, charlie, administrator):
    people = (None, charlie, administrator)
    anonymous, member, admin = (_navigation(browse(user).get("/")) for user in people)
    assert "catalog" in anonymous
    assert not {"runs", "publish", "site-status"} & anonymous
    assert {"runs", "publish", "teams"} <= member
    assert "site-status" not in member
    assert {"approvals", "site-status", "sandbox"} <= admin


@pytest.mark.parametrize(
    ("path", "current"), [("/", "home"), ("/skills/", "catalog"), ("/skills/listing/", "listing")]
)
def test_navigation_marks_the_current_area(browse, path, current):
    links = select(browse().get(path), "a", **{"aria-current": "true"})
    assert [link["nav"] for link in links if "data-nav" in link.attributes] == [current]


def test_palette_finds_skills_runs_pages_and_actions(browse, team, alice):
    version = publish_files(tidy_files(), team=team, user=alice)
    run = make_run(version, alice, team)
    client = browse(alice)

    assert "/skills/docs/weekly-report/" in _found(client, "weekly")
    assert _found(client, run.uid) == {f"/runs/{run.uid}/"}
    assert _found(client, f"#{run.number}") == {f"/runs/{run.uid}/"}
    assert f"/runs/{run.uid}/" in _found(client, "weekly")
    assert _found(client, "import skills") == {"/imports/new/"}
    assert _found(client, "nothing like this") == set()


def _found(client, text):
    page = parsed(client.get("/find/", {"q": text, "part": "results"}))
    return {link["href"] for section in page.parts("section") for link in section.select("a")}


def test_palette_hides_private_skills_and_others_runs(browse, team, alice, charlie):
    version = publish_files(tidy_files(), team=team, user=alice)
    run = make_run(version, alice, team)
    for client in (browse(charlie), browse()):
        assert _found(client, "weekly") == set()
        assert _found(client, run.uid) == set()


def test_palette_is_a_page_without_scripts(browse, team, alice):
    publish_files(tidy_files(), team=team, user=alice)
    page = browse(alice).get("/find/", {"q": "weekly"})
    assert part(page, "section").select("a", href="/skills/docs/weekly-report/")
    assert parts(browse().get("/find/", {"q": "zzzz"}), "empty")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_style_guide_shows_every_component_and_icon(browse, language):
    page = browse(language=language).get("/styleguide/")
    assert {each["value"] for each in parts(page, "component")} == COMPONENTS
    assert {each["title"] for each in part(page, "component", value="icons").select("span")} == set(ICONS)


def test_styles_and_scripts_stay_small():
    assert (STATIC / "skillquay.css").stat().st_size <= 28_000
    scripts = {path.name: path.stat().st_size for path in STATIC.glob("*.js")}
    assert scripts.pop("webauthn.js") <= 1_500  # loaded only by the pages of passkeys
    assert sum(scripts.values()) <= 24_000


def test_styles_use_four_text_sizes():
    text = (STATIC / "skillquay.css").read_text()
    sizes = set(
        re.findall(r"font(?:-size)?: *[^;]*?([\d.]+(?:rem|em|px))\b", text.partition("@layer base")[2])
    )
    assert sizes <= {"11px"}, "use --meta, --body, --section or --title; 11px is for charts"


@pytest.mark.parametrize("text", ["weekly-report", "#1"])
def test_palette_finds_runs_along_an_index(browse, team, alice, text):
    version = publish_files(tidy_files(), team=team, user=alice)
    make_run(version, alice, team, number=1)
    client = browse(alice)
    assert not [line for line in whole_reads(lambda: _found(client, text)) if "worker_run" in line]


def test_palette_finds_runs_of_deleted_skills_and_the_newest_runs_of_each_name(browse, team, alice):
    version = publish_files(tidy_files(), team=team, user=alice)
    old, *newer = [make_run(version, alice, team) for _ in range(7)]
    deleted = make_run(version, alice, team, skill=None, skill_label="docs/gone")
    client = browse(alice)
    for text in ("gone", "docs/gone"):
        assert _found(client, text) == {f"/runs/{deleted.uid}/"}
    assert _found(client, "other/gone") == set()
    for text in ("weekly-report", "docs/weekly-report"):
        runs = {each for each in _found(client, text) if each.startswith("/runs/")}
        assert runs == {f"/runs/{run.uid}/" for run in newer}
        assert f"/runs/{old.uid}/" not in runs
