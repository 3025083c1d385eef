"""Notifications over the API."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.models import Version
from tests.factories.runs import make_run
from worker.delivery import expand, record
from worker.models import Delivery, Run
from worker.service import delivery_loop

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6", "P2")]


@pytest.fixture
def failure(version, alice, team):
    """A failed run of Alice, in her inbox."""
    run = make_run(Version.objects.get(), alice, team, status="failed", failure_code="SCRIPT_FAILED")
    record.run_ended(run, run.pk, "failed", timezone.now())
    expand.expand_pending()
    return run


def test_inbox_lists_and_marks_as_read(failure, as_alice, as_charlie):
    (item,) = as_alice.get("notifications?unread=true").json()["items"]
    assert (item["kind"], item["run"], item["skill"]) == ("first_failure", failure.uid, "docs/summarise")
    assert item["failure_code"] == "SCRIPT_FAILED"
    assert as_charlie.get("notifications").json()["items"] == []
    assert as_charlie.get(f"notifications/{item['id']}").status_code == 404
    assert as_charlie("PATCH", f"notifications/{item['id']}", {"read": True}).status_code == 404
    assert as_alice("POST", "notifications/read", {"ids": ["absent"]}).json() == {"changed": 0, "unread": 1}
    assert as_alice("POST", "notifications/read", {}).json() == {"changed": 1, "unread": 0}
    assert as_alice.get("notifications?unread=true").json()["items"] == []
    assert as_alice("PATCH", f"notifications/{item['id']}", {"read": False}).json()["read_at"] is None
    assert as_alice("PATCH", f"notifications/{item['id']}", {"read": "no"}).status_code == 422
    Run.objects.all().delete()
    assert as_alice.get("notifications").json()["items"] == []


def test_subscription_is_created_tested_changed_and_deleted(failure, as_alice, as_charlie, token_api, alice):
    kinds = ["run_failed", "recovered"]
    body = {"channel": "slack", "kinds": kinds, "address": "https://hooks.example/T0/secret", "team": "docs"}
    assert as_charlie("POST", "subscriptions", body).status_code == 404
    assert token_api(alice)("POST", "subscriptions", body).status_code == 403
    made = as_alice("POST", "subscriptions", {**body, "skill": "docs/summarise"})
    document = made.json()
    assert (made.status_code, document["kinds"], document["team"]) == (201, kinds, "docs")
    assert (document["skill"], document["address"]) == ("docs/summarise", "https://hooks.example/…")
    where = made["Location"].removeprefix("https://testserver").partition("/api/v1/")[2]
    test = as_alice("POST", f"{where}/test")
    assert (test.status_code, test.json()["kind"], test.json()["channel"]) == (202, "test", "slack")
    assert as_charlie.get(where).status_code == as_charlie("POST", f"{where}/test").status_code == 404
    changed = as_alice("PATCH", where, {"digest": "daily", "muted_until": "2030-01-01T00:00:00Z"}).json()
    assert (changed["digest"], changed["kinds"]) == ("daily", kinds)
    assert as_alice("PATCH", where, {"kinds": []}).json()["code"] == "SUBSCRIPTION_KINDS_MISSING"
    assert [row["id"] for row in as_alice.get("subscriptions?team=docs").json()["items"]] == [document["id"]]
    assert as_charlie.get("subscriptions").json()["items"] == []
    assert as_alice("DELETE", where).status_code == 204
    assert as_alice.get("deliveries").json()["items"] == []


def test_deliveries_are_listed_retried_and_replayed(version, alice, bob, team, as_alice, as_charlie):
    body = {
        "channel": "webhook",
        "kinds": ["run_failed"],
        "address": "http://127.0.0.1:9/",
        "secret": "s" * 16,
    }
    assert as_alice("POST", "subscriptions", {**body, "team": "docs"}).status_code == 201
    run = make_run(Version.objects.get(), bob, team, status="failed", failure_code="SCRIPT_FAILED")
    record.run_ended(run, run.pk, "failed", timezone.now())
    delivery_loop.deliver_due()
    (row,) = as_alice.get("deliveries?state=queued&channel=webhook&team=docs").json()["items"]
    assert (row["attempts"], row["event_kind"], row["last_status"]) == (1, "first_failure", None)
    assert row["error"].startswith("OUTBOUND_")
    path = f"deliveries/{row['id']}"
    assert as_alice("POST", f"{path}/replay").json()["code"] == "DELIVERY_NOT_REPLAYABLE"
    assert as_alice("POST", f"{path}/retry").json()["attempts"] == 0
    Delivery.objects.update(state="sent")
    assert as_alice("POST", f"{path}/retry").json()["code"] == "DELIVERY_NOT_FAILED"
    again = as_alice("POST", f"{path}/replay")
    assert (again.status_code, again.json()["replay_of"]) == (201, row["id"])
    for verb in ("retry", "replay"):
        assert as_charlie("POST", f"{path}/{verb}").status_code == 404
    assert as_charlie.get(path).status_code == 404
