from __future__ import annotations

import pytest

from registry.models import Team
from tests.factories.skills import publish_files
from tests.pages import actions, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
SAID = (
    "---\nname: {name}\ndescription: Makes the weekly report.\ntriggers:\n  phrases: [weekly report]\n---\n"
)


@pytest.fixture
def colliding(team, alice):
    tests = 'match: ["the weekly report please"]\nnot_match: ["weekly report"]\n'
    files = {"SKILL.md": SAID.format(name="weekly").encode(), "tests/triggers.yaml": tests.encode()}
    publish_files(files, team=team, user=alice)
    publish_files({"SKILL.md": SAID.format(name="other").encode()}, team=team, user=alice)


def test_the_report_names_what_collides(browse, alice, charlie, colliding):
    page = browse(alice).get("/skills/collisions/").content.decode()
    assert "weekly report" in page
    assert "/skills/docs/weekly/" in page
    assert "/skills/docs/other/" in page
    assert browse(alice).get("/skills/collisions/?team=elsewhere").status_code == 404
    assert parts(browse(charlie).get("/skills/collisions/"), "empty")


def test_skills_with_the_same_event_are_apart_from_those_with_the_same_words(browse, alice, team, colliding):
    for name in ("alert", "digest"):
        text = f"---\nname: {name}\ndescription: Makes {name}s.\ntriggers: {{event_types: [a.b]}}\n---\n"
        publish_files({"SKILL.md": text.encode()}, team=team, user=alice)
    page = browse(alice).get("/skills/collisions/")
    assert {row["state"] for row in part(page, "same-event").parts("collision")} == {"event"}
    assert {row["state"] for row in part(page, "same-words").parts("collision")} == {"exact"}


def test_a_version_shows_how_its_tests_ended(browse, alice, colliding):
    page = browse(alice).get("/skills/docs/weekly/")
    assert "the weekly report please" in part(page, "trial", value="must-match")
    assert "weekly report" in part(page, "trial", value="must-not-match")


def test_maintainers_say_on_the_teams_page_what_holds(browse, alice, bob, team):
    sent = {"languages": ["zh"], "failing_triggers_block": "on"}
    assert browse(alice).post("/teams/docs/settings/", sent).status_code == 302
    found = Team.objects.get(slug="docs")
    assert (found.languages, found.failing_triggers_block) == (["zh"], True)
    assert browse(bob).post("/teams/docs/settings/", {}).status_code == 403
    assert 'id="settings"' in browse(alice).get("/teams/docs/settings/").content.decode()
    assert 'id="settings"' not in browse(bob).get("/teams/docs/settings/").content.decode()


def test_tests_are_tried_again_by_page_and_api(browse, alice, charlie, colliding):
    reader = browse(alice)
    assert "retry-tests" in actions(reader.get("/skills/docs/weekly/feedback/"))
    done = part(
        reader.post("/skills/docs/weekly/feedback/tests/run/", follow=True), "message", kind="success"
    )
    assert "2" in done  # of two tests
    none = part(reader.post("/skills/docs/other/feedback/tests/run/", follow=True), "message", kind="error")
    assert none["code"] == "TRIGGER_TESTS_NONE"
    told = reader.post("/api/v1/skills/docs/weekly/trigger-tests/run").json()
    assert (told["skill"], len(told["tests"])) == ("docs/weekly", 2)
    assert browse(charlie).post("/api/v1/skills/docs/weekly/trigger-tests/run").status_code == 404
