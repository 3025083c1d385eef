from __future__ import annotations

import json
from contextlib import suppress

import pytest
from django.core.management import call_command

from registry.packages.package import Triggers

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def run(capsys):
    """The JSON that a command prints."""

    def do(*args):
        with suppress(SystemExit):
            call_command(*args, "--json")
        return json.loads(capsys.readouterr().out)

    return do


def code(told):
    return told["problems"][0]["code"]


def test_a_webhook_is_made_in_somebodys_name_rotated_and_removed(team, alice, charlie, run):
    assert code(run("webhooks", "--add", "Builds", "--team", "docs")) == "WEBHOOK_NOBODY"
    assert code(run("webhooks", "--add", "Mine", "--team", "docs", "--as", "charlie")) == "NOT_FOUND"
    made = run("webhooks", "--add", "Builds", "--team", "docs", "--prefix", "ci.", "--as", "alice")
    (row,) = made["webhooks"]
    assert (row["name"], row["prefix"], row["created_by"]) == ("Builds", "ci.", "alice")
    assert row["address"].endswith(f"/hooks/{row['id']}")
    assert run("webhooks", "--rotate", row["id"], "--as", "alice")["secret"] != made["secret"]
    assert run("webhooks", "--as", "charlie")["webhooks"] == []
    assert code(run("webhooks", "--remove", row["id"], "--as", "charlie")) == "NOT_FOUND"
    assert run("webhooks", "--remove", row["id"]) == {"ok": True, "webhooks": [], "problems": []}


def test_a_team_says_what_an_event_starts(published, charlie, run):
    published(triggers=Triggers(event_types=("ci.failed",)))
    said = ("event_subscriptions", "--team", "docs", "--set", "docs/report")
    assert code(run(*said, "ci.passed")) == "EVENT_UNDECLARED"
    assert code(run(*said, "ci.failed", "--as", "charlie")) == "NOT_FOUND"
    (row,) = run(*said, "ci.failed", "--mode", "propose")["subscriptions"]
    assert (row["skill"], row["event_type"], row["mode"]) == ("docs/report", "ci.failed", "propose")
    assert run("event_subscriptions", "--as", "charlie")["subscriptions"] == []
    assert run("event_subscriptions", "--remove", row["id"])["subscriptions"] == []


def test_a_wrong_skill_proposes_a_test_that_a_maintainer_decides(published, charlie, run):
    published()
    assert code(run("feedback", "docs/report", "--outcome", "worked", "--as", "charlie")) == "NOT_FOUND"
    assert run("feedback", "docs/report@1.0.0", "--outcome", "worked")["counted"]
    for said in ("bake bread", "bake a cake"):
        run("feedback", "docs/report", "--outcome", "wrong_skill", "--utterance", said)
    told = run("feedback", "docs/report")
    assert told["counts"] == {"worked": 1, "failed": 0, "wrong_skill": 2}
    first, second = told["proposals"]
    run("feedback", "docs/report", "--accept", first["id"])
    assert run("feedback", "docs/report", "--decline", second["id"])["proposals"] == []
    assert code(run("feedback", "docs/report", "--accept", first["id"])) == "FEEDBACK_DECIDED"
