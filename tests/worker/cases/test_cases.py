"""A package's own cases run for its maintainers, by page, API and command, and show what differs."""

from __future__ import annotations

import json

import pytest

from portal.pages.home.presenters.runs import failures_by_skill
from portal.pages.skill.presenters.recent_runs import recent_strip
from registry.identity.actors import Actor
from registry.models import AuditEntry, Skill
from tests.checks import not_none
from tests.factories.skills import publish_files
from tests.pages import actions, messages, part, parts
from tests.shell import api, refusal
from worker.cases.results import Expectation, _differences
from worker.cases.run_cases import run_cases
from worker.models import CaseResult, Run
from worker.run_views.failures import first_failure_since_success, last_success, similar_failures
from worker.run_views.sql import last_run_ids
from worker.run_views.statistics import runs_by_version, skill_statistics
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("A7", "P3")]
PAGE, PATH = "/skills/docs/count/1.0.0/", "skills/docs/count/versions/1.0.0/cases"
SCRIPT = b"""import json, sys
rows = open(sys.argv[1]).read().split()
open("rows.txt", "w").write("x")
print(json.dumps({"rows": len(rows), "first": {"name": rows[0], "extra": 1}}))
"""
CASES = b"""cases:
  - name: counts
    arguments: [tests/rows.csv]
    expect: {output: {rows: 2, first: {name: a}}, artifacts: [rows.txt]}
  - name: expects too much
    arguments: [tests/rows.csv]
    expect: {equals: {rows: 3, first: {name: a}}, artifacts: [more.txt]}
  - name: fails without a file
    arguments: [absent.csv]
    expect: {status: failed}
  - name: has no such script
    script: other
    expect: {code: SCRIPT_NOT_FOUND}
  - name: skipped
    agruments: []
"""


@pytest.fixture
def version(team, alice):
    head = b"---\nname: count\ndescription: For tests.\nversion: 1.0.0\n---\n# Count\n"
    files = {"SKILL.md": head, "scripts/count.py": SCRIPT, "tests/cases.yaml": CASES}
    return publish_files({**files, "tests/rows.csv": b"a b"}, team=team, user=alice, visibility="public")


def _execute_all():
    for run in Run.objects.filter(status="queued"):
        execute_here(run)


def test_cases_run_and_show_the_difference_on_the_page(version, client, alice):
    client.force_login(alice)
    page = client.get(PAGE).content.decode()
    assert [row["state"] for row in parts(page, "case")] == ["not_run"] * 4
    assert "run-cases" in actions(page)
    answer = client.post(f"{PAGE}cases/run/", follow=True)
    assert messages(answer) == ["success"]
    page = answer.content.decode()
    assert [row["state"] for row in parts(page, "case")] == ["running"] * 3 + ["passed"]
    assert f'hx-get="{PAGE}cases/"' in page
    _execute_all()
    page = client.get(f"{PAGE}cases/").content.decode()
    assert [row["state"] for row in parts(page, "case")] == ["passed", "failed", "passed", "passed"]
    differences = [row["value"] for row in parts(page, "case-difference")]
    assert differences == ["output/rows", "output/first/extra", "artifacts"]
    run = not_none(CaseResult.objects.get(name="counts").run)
    assert part(client.get(f"/runs/{run.uid}/").content.decode(), "case")
    assert Skill.objects.get().usage_count == 0
    assert AuditEntry.objects.filter(action="version.run_cases").count() == 1


def test_api_and_command_return_the_same_and_a_new_run_replaces_the_results(version):
    status, document = api("POST", PATH)
    assert (status, [row["state"] for row in document["cases"]]) == (0, ["running"] * 3 + ["passed"])
    assert [each["code"] for each in document["problems"]] == ["CASES_INVALID"]
    _execute_all()
    _status, document = api("GET", PATH)
    failed = document["cases"][1]
    assert (failed["state"], failed["differences"][0]) == (
        "failed",
        {"field": "output/rows", "expected": "3", "actual": "2"},
    )
    _status, run = api("GET", f"runs/{failed['run']}")
    assert (run["case"], run["outputs"]["rows"]) == ("expects too much", 2)
    api("POST", PATH)
    assert CaseResult.objects.count() == 4
    assert Run.objects.count() == 6
    Run.objects.all().delete()
    _status, document = api("GET", PATH)
    assert {row["state"] for row in document["cases"][:3]} == {"unknown"}


def test_runs_of_cases_are_in_no_statistics_and_no_list_of_failures(version, client, alice, queue_run):
    client.force_login(alice)
    run_cases(version, Actor(user=alice))
    _execute_all()
    assert Run.objects.filter(status="failed").count() == 1
    actor = Actor(user=alice)

    def counted():
        statistics = skill_statistics(version.skill, actor)
        runs = sum(each.counts.runs for each in statistics.versions)
        strip = len(recent_strip(version.skill, actor).bars)
        assert Run.objects.filter(pk__in=last_run_ids([version.skill_id], 10)).count() == strip
        days = sum(each.counts.failed for each in statistics.days)
        failing = [each.count for each in failures_by_skill(actor)]
        return runs, runs_by_version(version.skill, actor).total(), days, failing, strip

    assert counted() == (0, 0, 0, [], 0)
    first, second = (execute_here(queue_run(version, arguments=["absent.csv"])) for _ in range(2))
    assert counted() == (2, 2, 2, [2], 2)
    assert [each.uid for each in similar_failures(second, actor).runs] == [first.uid]
    assert not_none(first_failure_since_success(second, actor)).uid == first.uid
    assert last_success(second, actor) is None  # the case that succeeded does not count
    assert {row["state"] for row in parts(client.get(f"{PAGE}cases/"), "case")} == {"passed", "failed"}


def test_only_maintainers_see_and_run_cases(version, client, bob, charlie):
    for person in (bob, charlie):
        assert refusal("POST", PATH, by=person.username) == "FORBIDDEN"
        assert refusal("GET", PATH, by=person.username) == "FORBIDDEN"
        client.force_login(person)
        assert parts(client.get(PAGE).content.decode(), "case") == []
        client.post(f"{PAGE}cases/run/")
    assert not Run.objects.exists()


def test_version_without_cases_has_none_to_run(publish_skill, client, alice):
    publish_skill()
    assert refusal("POST", "skills/docs/hello/versions/1.0.0/cases") == "CASES_NONE"
    client.force_login(alice)
    assert "run-cases" not in actions(client.get("/skills/docs/hello/1.0.0/").content.decode())


@pytest.mark.parametrize(
    ("compares", "expected", "actual", "fields"),
    [
        ("subset", {"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}], "d": 3}, []),
        ("equal", {"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}], "d": 3}, ["output/a/0/c", "output/d"]),
        ("subset", {"a": [1]}, {"a": [1, 2]}, ["output/a"]),
        ("subset", {"a": True}, {"a": 1}, ["output/a"]),
        ("subset", {"a": None}, {}, ["output/a"]),
        ("equal", "text", "text", []),
        ("subset", {"a": 1}, None, ["output"]),
        ("equal", {}, {str(n): n for n in range(99)}, [f"output/{n}" for n in range(20)]),
    ],
)
def test_outputs_are_compared_whole_or_in_part(compares, expected, actual, fields):
    expect = Expectation("succeeded", "", compares, expected)
    found = _differences(expect, "succeeded", "", actual, ())
    assert [each.field for each in found] == fields
    assert json.dumps([vars(each) for each in found])
