"""Webhooks, event subscriptions and feedback from the shell."""

from __future__ import annotations

import pytest

from registry.packages.package import Triggers
from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


def test_webhook_acts_in_a_users_name_and_is_rotated_and_removed(team, alice, charlie):
    body = {"name": "Builds", "team": "docs"}
    assert refusal("POST", "webhooks", body) == "WEBHOOK_OWNER_MISSING"
    assert refusal("POST", "webhooks", body, by="charlie") == "NOT_FOUND"
    status, made = api("POST", "webhooks", {**body, "prefix": "ci."}, by="alice")
    assert (status, made["name"], made["prefix"], made["created_by"]) == (0, "Builds", "ci.", "alice")
    assert made["delivery_url"].endswith(f"/hooks/{made['id']}")
    rotated = api("POST", f"webhooks/{made['id']}/rotate", {}, by="alice")[1]
    assert rotated["secret"] not in (made["secret"], "", None)
    assert api("GET", "webhooks", by="charlie")[1]["items"] == []
    assert refusal("DELETE", f"webhooks/{made['id']}", by="charlie") == "NOT_FOUND"
    assert api("DELETE", f"webhooks/{made['id']}") == (0, None)
    assert api("GET", "webhooks")[1]["items"] == []


def test_team_sets_what_an_event_starts(publish_skill, charlie):
    publish_skill(triggers=Triggers(event_types=("ci.failed",)))
    body = {"team": "docs", "skill": "docs/report", "mode": "propose"}
    path = "event-subscriptions"
    assert refusal("POST", path, {**body, "event_type": "ci.passed"}) == "EVENT_UNDECLARED"
    body["event_type"] = "ci.failed"
    assert refusal("POST", path, body, by="charlie") == "NOT_FOUND"
    status, row = api("POST", path, body)
    assert (status, row["skill"], row["event_type"], row["mode"]) == (
        0,
        "docs/report",
        "ci.failed",
        "propose",
    )
    assert api("GET", path, by="charlie")[1]["items"] == []
    assert api("DELETE", f"{path}/{row['id']}") == (0, None)
    assert api("GET", path)[1]["items"] == []


def test_wrong_match_proposes_a_test_that_a_maintainer_decides(publish_skill, charlie):
    publish_skill()
    worked = {"skill": "docs/report", "outcome": "worked"}
    assert refusal("POST", "feedback", worked, by="charlie") == "NOT_FOUND"
    assert api("POST", "feedback", {**worked, "version": "1.0.0"})[1]["counted"]
    for utterance in ("bake bread", "bake a cake"):
        body = {"skill": "docs/report", "outcome": "wrong_skill", "utterance": utterance}
        assert api("POST", "feedback", body)[0] == 0
    found = api("GET", "skills/docs/report/feedback")[1]
    assert found["counts"] == {"worked": 1, "failed": 0, "wrong_skill": 2}
    first, second = (f"skills/docs/report/feedback/{each['id']}" for each in found["proposals"])
    assert api("POST", first, {"accept": True})[0] == 0
    assert api("POST", second, {"accept": False})[0] == 0
    assert api("GET", "skills/docs/report/feedback")[1]["proposals"] == []
    assert refusal("POST", first, {"accept": True}) == "FEEDBACK_DECIDED"
