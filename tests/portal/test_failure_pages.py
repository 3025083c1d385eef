"""The pages of error groups."""

from __future__ import annotations

import pytest

from tests.factories.runs import make_hostile_run, make_run
from tests.pages import part, parts, select
from worker.failures.recount import group_earlier_runs
from worker.models import ErrorGroup

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P6")]


@pytest.fixture
def run(private, alice, team):
    cause = {"type": "ValueError", "message": "Kestrel 7", "file": "scripts/go.py", "line": 3}
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED", "cause": cause}
    run = make_run(private.latest, alice, team, **failed)
    assert sum(group_earlier_runs()) == 1
    run.refresh_from_db()
    return run


@pytest.fixture
def group(run):
    return ErrorGroup.objects.get(key=run.error_key)


def test_group_leads_to_its_runs_and_back(browse, alice, run, group):
    page = browse(alice)
    row = part(page.get("/failures/"), "error-group")
    assert (row["value"], row["state"]) == (group.uid, "open")
    assert "Kestrel <n>" in row
    detail = page.get(f"/failures/{group.uid}/")
    assert part(detail, "run")["value"] == run.uid
    assert part(detail, "count")["value"] == "1"
    assert "ValueError: Kestrel 7" in part(detail, "cause")
    assert part(page.get(f"/runs/?error_group={group.uid}"), "run")["value"] == run.uid
    assert part(page.get(f"/runs/{run.uid}/"), "error-group")["value"] == group.uid


def test_maintainer_resolves_assigns_and_reopens(browse, alice, group):
    page = browse(alice)
    for action, fields, state in (
        ("assign", {"user": "alice"}, "open"),
        ("resolve", {"version": "9.0"}, "resolved"),
        ("reopen", {}, "open"),
        ("resolve", {"version": "?"}, "open"),
    ):
        answer = page.post(f"/failures/{group.uid}/{action}/", fields, follow=True)
        assert answer.status_code == 200
        group.refresh_from_db()
        assert (group.state, group.assigned_to) == (state, alice)
    assert parts(page.get("/failures/?mine=on&state=open"), "error-group")
    assert not parts(page.get("/failures/?state=resolved"), "error-group")


def test_member_sees_no_cause_and_no_buttons(browse, bob, charlie, group):
    page = browse(bob).get(f"/failures/{group.uid}/")
    assert part(page, "locked")
    assert not parts(page, "change")
    assert "Kestrel" not in page.content.decode()
    assert "Kestrel" not in browse(bob).get("/failures/").content.decode()
    browse(bob).post(f"/failures/{group.uid}/resolve/", {"version": "2.0.0"})
    group.refresh_from_db()
    assert group.state == "open"
    assert browse(charlie).get(f"/failures/{group.uid}/").status_code == 404
    assert browse(charlie).post(f"/failures/{group.uid}/reopen/").status_code == 404
    assert not parts(browse(charlie).get("/failures/"), "error-group")


def test_hostile_cause_stays_text(browse, alice, private, team):
    make_hostile_run(private.latest, alice, team)
    assert sum(group_earlier_runs()) == 1
    group = ErrorGroup.objects.get()
    for path in ("/failures/", f"/failures/{group.uid}/"):
        text = browse(alice).get(path).content.decode()
        assert "<script>alert" not in text
        assert "<b>CODE" not in text
        assert "\u202e" not in text


def test_list_has_pages_and_ignores_invalid_positions(browse, alice, private, team, monkeypatch):
    monkeypatch.setattr("portal.pages.failures.views.PAGE", 2)
    for cause in "abcde":
        row = {"type": cause, "message": "", "file": "", "line": None}
        make_run(private.latest, alice, team, status="failed", failure_code="SCRIPT_FAILED", cause=row)
    assert sum(group_earlier_runs()) == 5
    page, found = browse(alice).get("/failures/"), []
    while True:
        found += [row["value"] for row in parts(page, "error-group")]
        links = select(page, "a", rel="next")
        if not links:
            break
        page = browse(alice).get(f"/failures/{links[0]['href']}")
    assert len(found) == len(set(found)) == 5
    for after in ("~", "2026-01-01", "\0", "9999-99-99~x", "x" * 5000):
        assert browse(alice).get("/failures/", {"after": after}).status_code == 200


@pytest.mark.parametrize(("path", "most"), [("/failures/", 9), ("/failures/{}/", 15)])
def test_page_takes_few_queries(browse, alice, group, path, most, django_assert_max_num_queries):
    page = browse(alice)
    page.get("/failures/")
    with django_assert_max_num_queries(most):
        assert page.get(path.format(group.uid)).status_code == 200
