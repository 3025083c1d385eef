"""The sandbox page: administrators ask a worker to attack its own tiers, and see what it found."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.actors import Actor
from worker import examining
from worker.models import Examination
from worker.sandbox import doctor

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]

DOCUMENT = {
    "tiers": [
        {
            "name": "bwrap",
            "usable": True,
            "reason": "",
            "fix": "",
            "checks": [
                {"attack": "fork bomb", "passed": True, "detail": "stopped at 30"},
                {"attack": "read <b>shadow</b>", "passed": False, "detail": "it was read"},
            ],
            "not_tried": [{"attack": "rebinding", "reason": "no network"}],
        },
        {
            "name": "landlock",
            "usable": False,
            "reason": "too old",
            "fix": "a newer kernel",
            "checks": [],
            "not_tried": [],
        },
    ],
    "missing": {},
}


@pytest.fixture
def administrator(django_user_model):
    return django_user_model.objects.create_superuser("root")


@pytest.fixture
def waking(monkeypatch):
    woken = []
    monkeypatch.setattr(examining, "wake_doctor", lambda: woken.append(1))
    return woken


def test_nobody_else_finds_the_page(client, bob):
    assert client.get("/site/sandbox/").status_code == 302
    client.force_login(bob)
    assert client.get("/site/sandbox/").status_code == 404


def test_before_anybody_asked_there_is_something_to_press(client, administrator):
    client.force_login(administrator)
    text = client.get("/site/sandbox/").content.decode()
    assert "Nobody has attacked it yet" in text
    assert "Attack it now" in text


def test_a_worker_does_it_once_and_the_page_tells(client, administrator, waking, monkeypatch):
    def examine(site, say):
        say("bwrap", 0)
        assert "attacks bwrap" in client.get("/site/sandbox/").content.decode()
        return DOCUMENT

    monkeypatch.setattr(doctor, "examine", examine)
    client.force_login(administrator)
    assert client.post("/site/sandbox/").status_code == 302
    client.post("/site/sandbox/")
    assert (Examination.objects.count(), len(waking)) == (1, 1)
    assert "Waiting for a free worker" in client.get("/site/sandbox/").content.decode()
    assert [examining.examine_waiting("one"), examining.examine_waiting("two")] == [True, False]
    text = client.get("/site/sandbox/").content.decode()
    for said in ("stopped at 30", "got through", "too old", "a newer kernel", "not tried", "Examined by one"):
        assert said in text
    assert "<b>shadow" not in text


def test_one_that_was_lost_does_not_stand_in_the_way(administrator, waking):
    lost = examining.ask(Actor(user=administrator))
    long_ago = timezone.now() - timedelta(seconds=examining.LONGEST_S + 1)
    Examination.objects.update(asked_at=long_ago, started_at=long_ago)
    assert examining.ask(Actor(user=administrator)) != lost
