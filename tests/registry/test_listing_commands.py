from __future__ import annotations

import json

import pytest
from django.core.management import call_command

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7", "E1")]


@pytest.fixture
def run(capsys):
    """What a command prints, and its exit status."""

    def do(*args):
        try:
            call_command(*args)
            status = 0
        except SystemExit as ended:
            status = ended.code
        return status, capsys.readouterr().out.rstrip("\n")

    return do


def test_listing_prints_what_a_prompt_holds(published, run):
    published("report", description="Writes a report.")
    assert run("listing") == (0, "- report: Writes a report.")
    assert run("listing", "--as", "alice", "--context-tokens", "600") == (0, "- report")
    assert run("listing", "--format", "xml")[1].startswith("<available_skills>\n<skill><name>report</name>")
    told = json.loads(run("listing", "--context-tokens", "600", "--json")[1])
    assert (told["budget"], told["skills"][0]["cut"]) == (24, "name")


def test_listing_of_nothing_prints_nothing(alice, run):
    assert run("listing", "--as", "alice") == (0, "")
    assert run("listing", "--as", "alice", "--format", "section")[1].endswith("- Found: (none)")


def test_skills_are_listed_and_loaded(published, run):
    published("report", description="Writes a report.", body="# Report")
    assert run("skills_list") == (0, "docs/report  report  Writes a report.")
    assert run("skills_load", "repo")[1].endswith("# Report")
    assert json.loads(run("skills_load", "report", "--json")[1])["id"] == "docs/report"
    status, told = run("skills_load", "x", "--json")
    assert (status, json.loads(told)["problems"][0]["message"]) == (1, "Skill not found: x")


def test_subscriptions_and_bundles_are_changed(published, charlie, run):
    published("report", visibility="public")
    assert run("listing", "--as", "charlie") == (0, "")
    assert run("subscriptions", "elsewhere", "--add", "docs", "--as", "charlie")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "- report: Writes a report.")
    assert (
        json.loads(run("subscriptions", "elsewhere", "--remove", "docs", "--json")[1])["subscriptions"] == []
    )
    assert run("bundle_skill", "docs/report")[0] == 0
    assert run("listing", "--as", "charlie") == (0, "- report: Writes a report.")
    assert run("bundle_skill", "docs/report", "--undo")[0] == 0
    assert run("bundle_skill", "docs/report", "--as", "charlie", "--json")[0] == 1
