from __future__ import annotations

import pytest

from registry.models import AuditEntry, TriggerTest
from tests.api.conftest import assert_error
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
SAID = (
    "---\nname: {name}\ndescription: Makes the weekly report.\ntriggers:\n  phrases: [weekly report]\n---\n"
)
TESTS = 'match: ["the weekly report please"]\nnot_match: ["bake a cake"]\n'


@pytest.fixture
def tested(publish):
    return publish({"SKILL.md": SAID.format(name="weekly"), "tests/triggers.yaml": TESTS})


def test_how_the_tests_of_a_version_ended_is_told(tested, as_bob):
    found = as_bob.get("skills/docs/weekly/versions/latest/trigger-tests").json()
    assert [(row["utterance"], row["passed"], row["line"]) for row in found["tests"]] == [
        ("the weekly report please", True, 1),
        ("bake a cake", True, 2),
    ]


def test_a_test_that_came_of_feedback_is_told_to_the_team_alone(publish, alice, as_bob, as_charlie):
    first = publish({"SKILL.md": SAID.format(name="weekly")})
    first.skill.visibility = "public"
    first.skill.save()
    TriggerTest.objects.create(skill=first.skill, utterance="our secret", must_match=False, origin="feedback")
    publish({"SKILL.md": SAID.format(name="weekly") + "more\n", "tests/triggers.yaml": TESTS})
    address = "skills/docs/weekly/versions/latest/trigger-tests"
    assert len(as_bob.get(address).json()["tests"]) == 3
    assert "our secret" not in as_charlie.get(address).content.decode()


def test_collisions_are_listed_for_their_readers(tested, publish, as_alice, as_charlie):
    publish({"SKILL.md": SAID.format(name="report-of-the-week")})
    (row,) = as_alice.get("collisions?team=docs").json()["collisions"]
    assert {each["skill"] for each in row["triggers"]} == {"docs/weekly", "docs/report-of-the-week"}
    assert api("GET", "collisions?skill=docs/weekly")[1]["collisions"] == [row]
    assert as_charlie.get("collisions").json() == {"complete": True, "collisions": []}


def test_maintainers_change_what_holds_for_their_team(team, as_alice, as_bob, as_charlie):
    assert as_alice.get("teams/docs/settings").json()["failing_triggers"] == "warn"
    change = {"languages": ["zh"], "failing_triggers": "block"}
    found = as_alice("PATCH", "teams/docs/settings", change).json()
    said: dict[str, object] = {
        "team": "docs",
        "languages": ["zh"],
        "failing_triggers": "block",
        "memory_review": "team",
    }
    said |= {"run_readers": "caller", "share_links": True}
    assert found == said
    assert AuditEntry.objects.filter(action="team.settings").count() == 1
    assert_error(as_bob("PATCH", "teams/docs/settings", change), 403, "FORBIDDEN")
    assert_error(as_charlie("PATCH", "teams/docs/settings", change), 404, "NOT_FOUND")
    assert_error(as_charlie.get("teams/docs/settings"), 404, "NOT_FOUND")
    assert_error(as_alice("PATCH", "teams/docs/settings", {"languages": ["tlh"]}), 422, "FIELD_INVALID")
    assert_error(as_alice("PATCH", "teams/docs/settings", {"failing_triggers": "no"}), 422, "FIELD_INVALID")
    found = as_alice("PATCH", "teams/docs/settings", {"memory_review": "all"}).json()
    assert found == {**said, "memory_review": "all"}


def test_shell_changes_team_settings(team):
    change = {"languages": ["en", "zh"], "failing_triggers": "block"}
    expected: dict[str, object] = {"team": "docs", **change, "memory_review": "team"}
    expected |= {"run_readers": "caller", "share_links": True}
    assert api("PATCH", "teams/docs/settings", change) == (0, expected)


def test_a_failing_test_is_part_of_the_dry_run(team, as_alice):
    from tests.api.conftest import archive

    body = archive({"SKILL.md": SAID.format(name="weekly"), "tests/triggers.yaml": 'match: ["bake a cake"]'})
    answer = as_alice.post("packages?team=docs&dry_run=1", body, kind="application/zip").json()
    told = [each for each in answer["problems"] if each["code"] == "TRIGGER_NOTHING_FOUND"]
    assert (answer["ok"], told[0]["path"], told[0]["line"]) == (True, "tests/triggers.yaml", 1)
