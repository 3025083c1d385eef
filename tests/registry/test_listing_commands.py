from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7", "E1")]


@pytest.fixture
def run(capsys):
    """What a command prints, and its exit status."""

    def do(*args):
        try:
            call_command(*args)
            status: str | int | None = 0
        except SystemExit as ended:
            status = ended.code
        return status, capsys.readouterr().out.rstrip("\n")

    return do


def test_listing_prints_what_a_prompt_holds(publish_skill, run):
    publish_skill("report", description="Writes a report.")
    assert run("listing") == (0, "- report: Writes a report.")
    assert run("listing", "--as", "alice", "--context-tokens", "600") == (0, "- report")
    assert run("listing", "--format", "xml")[1].startswith("<available_skills>\n<skill><name>report</name>")
    told = json.loads(run("listing", "--context-tokens", "600", "--json")[1])
    assert (told["budget"], told["skills"][0]["truncation"]) == (24, "name")


def test_listing_of_nothing_prints_nothing(alice, run):
    assert run("listing", "--as", "alice") == (0, "")
    assert run("listing", "--as", "alice", "--format", "section")[1].endswith("- Found: (none)")


def test_shell_lists_and_loads_skills_as_an_agent_does(publish_skill):
    publish_skill("report", description="Writes a report.", body="# Report")
    (row,) = api("GET", "agent/skills")[1]["skills"]
    assert (row["id"], row["name"], row["description"]) == ("docs/report", "report", "Writes a report.")
    loaded = api("GET", "agent/skills/load?name=repo")[1]
    assert (loaded["id"], loaded["content"].endswith("# Report")) == ("docs/report", True)
    status, refused = api("GET", "agent/skills/load?name=x")
    assert (status, refused["message"]) == (1, "Skill not found: x")


def test_subscriptions_and_bundles_are_changed(publish_skill, charlie, run):
    publish_skill("report", visibility="public")
    assert run("listing", "--as", "charlie") == (0, "")
    assert api("POST", "teams/elsewhere/subscriptions", {"team": "docs"}, by="charlie")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "- report: Writes a report.")
    assert api("DELETE", "teams/elsewhere/subscriptions/docs")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "")
    assert api("POST", "skills/docs/report/bundling")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "- report: Writes a report.")
    assert api("DELETE", "skills/docs/report/bundling")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "")
    assert refusal("POST", "skills/docs/report/bundling", by="charlie") == "FORBIDDEN"
