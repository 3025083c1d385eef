"""The inbox and its badge."""

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.factories.runs import make_run
from tests.pages import parsed
from worker.delivery import expand, record

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6", "P8")]
INBOX = "/notifications/"


@pytest.fixture
def failure(private, bob, team):
    run = make_run(private.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    record.run_ended(run, run.pk, "failed", timezone.now())
    expand.expand_pending()
    return run


def badge(page):
    return [each.text for each in page.parts("unread-notifications")]


def test_inbox_shows_the_badge_until_a_notification_is_opened(failure, browse, bob):
    client = browse(bob)
    page = parsed(client.get(INBOX))
    row = page.part("notification", code="first_failure", state="unread")
    assert badge(page) == ["1"]
    assert client.get(f"{INBOX}{row['value']}/").url == f"/runs/{failure.uid}/"
    page = parsed(client.get(INBOX))
    assert page.part("notification")["state"] == "read"
    assert badge(page) == []
    assert parsed(client.get(f"{INBOX}?show=unread")).part("empty")["state"] == "filtered"


def test_all_are_marked_as_read_by_one_button(failure, browse, bob, charlie):
    browse(charlie).post(f"{INBOX}read/")
    client = browse(bob)
    assert badge(parsed(client.get("/"))) == ["1"]
    client.post(f"{INBOX}read/")
    assert badge(parsed(client.get("/"))) == []


def test_inbox_of_others_is_empty(failure, browse, charlie, alice):
    for user in (charlie, alice):
        page = parsed(browse(user).get(INBOX))
        assert page.part("empty")["state"] == "none"
        assert badge(page) == []
