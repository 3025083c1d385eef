"""Notifications over the API."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.models import Version
from tests.factories.runs import make_run
from worker.delivery import expand, record
from worker.models import Run

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
