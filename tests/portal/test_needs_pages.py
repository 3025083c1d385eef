"""The pages of a skill show what its scripts need before anybody runs them."""

from __future__ import annotations

import pytest
from django.http import HttpResponse

from tests.factories.skills import publish_files
from tests.pages import actions, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("A8")]

SCRIPT = b"""import os, subprocess, sys
import pypdf, requests
try:
    import rich
except ImportError:
    rich = None
subprocess.run(["soffice"])
requests.get("https://api.crossref.org/works", headers={"x": os.environ["GITHUB_TOKEN"]})
print(sys.argv)
"""
OTHER = b"import numpy, sys\nprint(sys.argv, numpy)\n"
HEAD = b"---\nname: tables\ndescription: For tests.\nversion: 1.0.0\n---\n# Tables\n"


@pytest.fixture
def tables(team, alice):
    files = {"SKILL.md": HEAD, "scripts/main.py": SCRIPT, "scripts/other.py": OTHER}
    return publish_files({**files, "requirements.txt": b"pypdf\n"}, team=team, user=alice)


def groups(page: HttpResponse) -> dict[str, str]:
    return {group["state"]: group.text for group in parts(page, "need-group")}


def test_skill_page_separates_missing_needs_from_declared_ones(client, alice, tables):
    client.force_login(alice)
    page = client.get("/skills/docs/tables/")
    found = groups(page)
    assert all(name in found["missing"] for name in ("requests", "numpy", "api.crossref.org", "GITHUB_TOKEN"))
    assert "LibreOffice" in found["unknown"]
    assert "rich" in found["optional"]
    assert "pypdf" in found["provided"]
    assert "pypdf" not in found["missing"]


def test_run_form_shows_the_needs_of_the_chosen_script(client, alice, tables):
    client.force_login(alice)
    page = client.get("/skills/docs/tables/run/?script=other")
    assert set(groups(page)) == {"missing"}
    assert "numpy" in groups(page)["missing"]
    assert "requests" not in groups(page)["missing"]


def test_script_without_needs_has_no_section(client, alice, team):
    version = publish_files({"SKILL.md": HEAD, "scripts/a.py": b"print(1)\n"}, team=team, user=alice)
    client.force_login(alice)
    assert not parts(client.get(f"/skills/{version.skill}/"), "needs")


ADDITIONS = "/skills/docs/tables/1.0.0/additions/"
CHOSEN = {"add": ["library requests", "host api.crossref.org", "secret GITHUB_TOKEN"]}


def test_maintainer_adds_needs_with_one_press_and_removes_them(client, alice, tables):
    client.force_login(alice)
    page = client.get("/skills/docs/tables/1.0.0/")
    assert "add-needs" in actions(page)
    offered = {row.text for row in parts(page, "offered-addition")}
    assert {"requests", "numpy", "soffice", "api.crossref.org", "GITHUB_TOKEN", "rich"} == offered
    page = client.post(ADDITIONS, CHOSEN, follow=True)
    assert "requests" in groups(page)["added"]
    assert "api.crossref.org" not in groups(page)["missing"]
    assert [row["state"] for row in parts(page, "addition")] == ["library", "host", "secret"]
    page = client.post(ADDITIONS, {"remove": CHOSEN["add"]}, follow=True)
    assert not parts(page, "addition")
    assert "requests" in groups(page)["missing"]


def test_member_sees_additions_but_no_press(client, alice, bob, tables):
    client.force_login(alice)
    client.post(ADDITIONS, CHOSEN)
    client.force_login(bob)
    page = client.get("/skills/docs/tables/1.0.0/")
    assert parts(page, "addition")
    assert not {"add-needs", "remove-additions"} & set(actions(page))
    client.post(ADDITIONS, {"remove": CHOSEN["add"]})
    tables.refresh_from_db()
    assert len(tables.additions) == 3


def test_next_version_selects_what_the_earlier_one_had_and_comparison_shows_it(client, alice, team, tables):
    client.force_login(alice)
    client.post(ADDITIONS, {"add": ["library rich", "host api.crossref.org"]})
    head = HEAD.replace(b"1.0.0", b"1.1.0")
    files = {"SKILL.md": head, "scripts/main.py": SCRIPT, "scripts/other.py": OTHER}
    publish_files({**files, "requirements.txt": b"pypdf\n"}, team=team, user=alice)
    page = client.get("/skills/docs/tables/1.1.0/")
    assert parts(page, "earlier-additions")
    comparison = client.get("/api/v1/skills/docs/tables/compare/1.1.0..1.0.0").json()
    assert comparison["added_permissions"] == {"hosts": ["api.crossref.org"]}
    assert {row["name"]: row["added"] for row in comparison["abilities"]} == {
        "hosts": ["api.crossref.org"],
        "libraries": ["rich"],
    }
