"""The pages of error groups."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.pages.failures.forms import version_to_resolve
from registry.packages.version_numbers import next_patch
from tests.factories.runs import add_log, make_hostile_run, make_run
from tests.pages import part, parts, select
from worker.core.errors import WORKER_LOST
from worker.failures.groups import CountRow
from worker.failures.recount import group_earlier_runs
from worker.models import ErrorGroup, Run

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
    assert "Kestrel 7" in row
    assert not row.select("span", class_="badge")
    detail = page.get(f"/failures/{group.uid}/")
    assert part(detail, "run")["value"] == run.uid
    assert part(detail, "count")["value"] == "1"
    assert "ValueError: Kestrel 7" in part(detail, "cause")
    assert part(detail, "pattern").text.strip() == "ValueError: Kestrel <n>"
    assert part(page.get(f"/runs/?error_group={group.uid}"), "run")["value"] == run.uid
    assert part(page.get(f"/runs/{run.uid}/"), "error-group")["value"] == group.uid


def test_group_shows_the_end_of_the_log_of_its_newest_run(browse, alice, bob, run, group):
    page = browse(alice)
    assert not parts(page.get(f"/failures/{group.uid}/"), "newest-run")
    add_log(run, ("stdout", "".join(f"line {n}\n" for n in range(20))), ("stderr", "ValueError: Kestrel 7\n"))
    newest = part(page.get(f"/failures/{group.uid}/"), "newest-run")
    lines = [line for line in part(newest, "log-end").tags("div") if line.tags("span")]
    assert newest["value"] == run.uid
    assert [line["class"] for line in lines] == [*[""] * 9, "failure"]
    assert not parts(browse(bob).get(f"/failures/{group.uid}/"), "newest-run")


def test_versions_to_run_have_a_visible_label_and_buttons_one_size(browse, alice, group):
    page = browse(alice).get(f"/failures/{group.uid}/")
    (label,) = part(page, "batch-form").tags("label")
    assert (label["for"], "class" in label.attributes) == ("to-version", False)
    (actions,) = select(page, "div", class_="actions")
    buttons = [*actions.select("button"), *actions.select("a", class_="button")]
    assert len(buttons) >= 3
    assert not [each for each in buttons if "small" in each["class"].split()]


def test_platform_causes_are_in_the_readers_language(browse, alice, private, team):
    timeout, lost = "The run exceeded its time limit.", WORKER_LOST.message
    make_run(private.latest, alice, team, status="timed_out", failure_code="TIMEOUT", message=timeout)
    make_run(private.latest, alice, team, status="lost", failure_code="WORKER_LOST", message="")
    assert sum(group_earlier_runs()) == 2
    page = browse(alice)
    uids = ErrorGroup.objects.values_list("uid", flat=True)
    addresses = ["/failures/", f"/skills/{private}/usage/", *(f"/failures/{uid}/" for uid in uids)]
    for address in addresses:
        text = page.get(address, headers={"Accept-Language": "zh-hans"}).text
        assert not [each for each in (timeout, str(lost)) if each in text]


def test_part_of_a_skills_name_narrows_the_list(browse, alice, charlie, group):
    page = browse(alice)
    for text, listed in (("week", 1), ("REPORT", 1), ("csv", 0), ("docs/weekly-report", 1)):
        answer = page.get("/failures/", {"skill": text})
        assert len(parts(answer, "error-group")) == listed, text
        (suggested,) = select(answer, "datalist", id="skill-list")
        assert [option["value"] for option in suggested.tags("option")] == ["docs/weekly-report"]
    (suggested,) = select(browse(charlie).get("/failures/"), "datalist", id="skill-list")
    assert suggested.tags("option") == []


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


@pytest.mark.parametrize(("path", "most"), [("/failures/", 8), ("/failures/{}/", 15)])
def test_page_takes_few_queries(browse, alice, group, path, most, django_assert_max_num_queries):
    page = browse(alice)
    page.get("/failures/")
    with django_assert_max_num_queries(most):
        assert page.get(path.format(group.uid)).status_code == 200


def test_trend_has_a_bar_with_its_value_for_each_day_with_failures(browse, alice, private, team, run, group):
    older = make_run(private.latest, alice, team, status="failed", failure_code="SCRIPT_FAILED")
    for days in (3, 20):
        Run.objects.filter(pk=older.pk).update(
            error_key=group.key, finished_at=timezone.now() - timedelta(days=days)
        )
        trend = part(browse(alice).get("/failures/"), "trend")
        assert part(browse(alice).get(f"/failures/{group.uid}/"), "trend")["value"] == trend["value"]
        (svg,) = trend.tags("svg")
        titles = [title.text for title in svg.tags("title")]
        assert trend["value"] == str(len(titles)) == ("2" if days == 3 else "1")
        assert svg["role"] == "img"
        assert all(title in svg["aria-label"] for title in titles)
    assert titles == [f"{run.finished_at:%Y-%m-%d}: 1"]


def test_selected_groups_are_assigned_resolved_and_reopened_together(browse, alice, bob, private, team):
    for cause in "abc":
        row = {"type": cause, "message": "", "file": "", "line": None}
        make_run(private.latest, alice, team, status="failed", failure_code="SCRIPT_FAILED", cause=row)
    assert sum(group_earlier_runs()) == 3
    page = browse(alice)
    boxes = select(page.get("/failures/"), "input", name="group")
    chosen = [box["value"] for box in boxes][:2]

    def change(**fields):
        answer = page.post("/failures/act/", {"group": chosen, **fields}, follow=True)
        return part(answer, "message"), ErrorGroup.objects.filter(uid__in=chosen)

    message, groups = change(action="assign", user="bob")
    assert message["kind"] == "success"
    assert [each.assigned_to for each in groups] == [bob, bob]
    message, groups = change(action="resolve")
    assert {(each.state, each.resolved_in) for each in groups} == {
        ("resolved", next_patch(private.latest.number))
    }
    message, groups = change(action="assign", user="charlie")
    assert message["code"] == "ERROR_GROUP_ASSIGNEE_INVALID"
    assert [each.assigned_to for each in groups] == [bob, bob]
    message, groups = change(action="assign")
    assert message["kind"] == "error"
    message, groups = change(action="assign", user="-")
    assert [each.assigned_to for each in groups] == [None, None]
    assert page.post("/failures/act/", {"group": chosen, "action": "open"}).status_code == 400
    message, groups = change(action="reopen")
    assert {each.state for each in groups} == {"open"}
    assert ErrorGroup.objects.exclude(uid__in=chosen).get().state == "open"


def test_version_to_resolve_is_higher_than_all_that_fail():
    def suggested(numbers, *failing):
        return version_to_resolve(numbers, [CountRow(number, 1, timezone.now()) for number in failing])

    assert suggested(["1.10.0", "1.9.0"], "1.9.0") == "1.10.0"
    assert suggested(["1.10.0", "1.9.0"], "1.9.0", "1.10.0") == "1.10.1"
    assert suggested(["2.0.0-rc.1"], "2.0.0-rc.1") == "2.0.0"
    assert suggested([]) == ""


def test_page_of_a_group_suggests_a_version_that_does_not_fail(browse, alice, private, group):
    form = part(browse(alice).get(f"/failures/{group.uid}/"), "change")
    (field,) = form.select("input", name="version")
    assert field["value"] == next_patch(private.latest.number)
    assert form.part("next-version")


def test_only_maintainers_select_and_change_groups(browse, bob, charlie, group):
    assert not select(browse(bob).get("/failures/"), "input", name="group")
    for person in (bob, charlie):
        answer = browse(person).post("/failures/act/", {"group": group.uid, "action": "resolve"}, follow=True)
        assert part(answer, "message")["kind"] == "error"
        group.refresh_from_db()
        assert group.state == "open"
