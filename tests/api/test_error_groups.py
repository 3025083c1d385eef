"""Error groups over the API."""

from __future__ import annotations

import pytest

from registry.models import Version
from tests.factories.runs import make_run
from worker.failures.recount import group_earlier_runs

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P6", "P8")]


@pytest.fixture
def failures(version, alice, bob, team):
    """Three failures of docs/summarise, two of them with one cause."""
    release = Version.objects.get()
    cause = {"type": "ValueError", "message": "no row 7", "file": "scripts/main.py", "line": 3}
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED"}
    make_run(release, alice, team, cause=cause, **failed)
    make_run(release, bob, team, cause=cause | {"message": "no row 12"}, **failed)
    make_run(release, alice, team, cause=cause | {"type": "KeyError"}, **failed)
    assert sum(group_earlier_runs()) == 3


def test_groups_are_listed_page_by_page(failures, as_alice):
    first = as_alice.get("error-groups?limit=1").json()
    second = as_alice.get(f"error-groups?limit=1&cursor={first['next_cursor']}").json()
    items = first["items"] + second["items"]
    assert {(each["type"], each["message"], each["count"]) for each in items} == {
        ("ValueError", "no row <n>", 2),
        ("KeyError", "no row <n>", 1),
    }
    assert second["next_cursor"] is None
    assert as_alice.get("error-groups?skill=docs/other").json()["items"] == []
    assert len(as_alice.get("error-groups?skill_contains=summ").json()["items"]) == 2
    assert as_alice.get("error-groups?skill_contains=other").json()["items"] == []
    assert as_alice.get("error-groups?state=broken").status_code == 400


def test_group_has_versions_callers_and_runs(failures, as_alice):
    items = as_alice.get("error-groups").json()["items"]
    uid = next(each["id"] for each in items if each["count"] == 2)
    group = as_alice.get(f"error-groups/{uid}").json()
    assert [(row["name"], row["count"]) for row in group["versions"]] == [("1.0.0", 2)]
    assert {row["name"] for row in group["callers"]} == {"alice", "bob"}
    runs = as_alice.get(f"runs?error_group={uid}").json()["items"]
    assert [run["id"] for run in group["runs"]] == [run["id"] for run in runs]
    assert len(runs) == 2


def test_maintainer_resolves_assigns_and_reopens(failures, as_alice):
    uid = as_alice.get("error-groups").json()["items"][0]["id"]

    def change(**body):
        return as_alice("PATCH", f"error-groups/{uid}", body)

    group = change(resolved_in="2.0.0", assigned_to="bob").json()
    assert (group["state"], group["resolved_in"], group["resolved_by"]) == ("resolved", "2.0.0", "alice")
    assert group["assigned_to"] == "bob"
    assert change(state="open", assigned_to=None).json()["assigned_to"] is None
    assert change(state="resolved").json()["code"] == "ERROR_GROUP_VERSION_INVALID"
    assert change(assigned_to="charlie").json()["code"] == "ERROR_GROUP_ASSIGNEE_INVALID"
    assert change(resolved_in=7).status_code == 422


def test_member_and_stranger_cant_change_a_group(failures, as_alice, as_bob, as_charlie):
    uid = as_alice.get("error-groups").json()["items"][0]["id"]
    assert as_bob("PATCH", f"error-groups/{uid}", {"state": "open"}).status_code == 403
    assert as_charlie("PATCH", f"error-groups/{uid}", {"state": "open"}).status_code == 404
    assert as_charlie.get(f"error-groups/{uid}").status_code == 404
    assert as_charlie.get("error-groups").json()["items"] == []
    assert as_charlie.get(f"runs?error_group={uid}").json()["items"] == []
