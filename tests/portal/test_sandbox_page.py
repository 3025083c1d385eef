"""The sandbox page: administrators ask a worker to attack its own tiers, and see what it found."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from tests.pages import actions, part, parts
from worker.models import Examination
from worker.sandbox.doctor import examine as doctor
from worker.service import examinations

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
    monkeypatch.setattr(examinations, "wake_doctor", lambda: woken.append(1))
    return woken


def test_nobody_else_finds_the_page(client, bob):
    assert client.get("/site/sandbox/").status_code == 302
    client.force_login(bob)
    assert client.get("/site/sandbox/").status_code == 404


def test_before_anybody_asked_there_is_something_to_press(client, administrator):
    client.force_login(administrator)
    page = client.get("/site/sandbox/")
    assert parts(page, "empty")
    assert actions(page) == ["examine"]


def test_a_worker_does_it_once_and_the_page_tells(client, administrator, waking, monkeypatch):
    def examine(site, say):
        say("bwrap", 0)
        progress = part(client.get("/site/sandbox/"), "progress")
        assert (progress["state"], progress["value"]) == ("running", "bwrap")
        return DOCUMENT

    monkeypatch.setattr(doctor, "examine_tiers", examine)
    client.force_login(administrator)
    assert client.post("/site/sandbox/").status_code == 302
    client.post("/site/sandbox/")
    assert (Examination.objects.count(), len(waking)) == (1, 1)
    assert part(client.get("/site/sandbox/"), "progress")["state"] == "queued"
    assert [examinations.examine_next("one"), examinations.examine_next("two")] == [True, False]
    text = client.get("/site/sandbox/").content.decode()
    assert part(text, "examined")["value"] == "one"
    usable, unusable = parts(text, "tier")
    assert [(tier["value"], tier["state"]) for tier in (usable, unusable)] == [
        ("bwrap", "usable"),
        ("landlock", "unusable"),
    ]
    states = [check["state"] for check in parts(usable, "check")]
    assert states == ["passed-through", "stopped", "not-tried"]
    attacks = part(text, "attacks")
    assert (attacks["value"], attacks["state"]) == ("1/2", "passed-through")
    assert "stopped at 30" in usable
    assert all(detail in unusable for detail in ("too old", "a newer kernel"))
    assert "<b>shadow" not in text


def test_one_that_was_lost_does_not_stand_in_the_way(administrator, waking):
    lost = examinations.request_examination(Actor(user=administrator))
    long_ago = timezone.now() - timedelta(seconds=examinations.MAX_TASK_S + 1)
    Examination.objects.update(requested_at=long_ago, started_at=long_ago)
    assert examinations.request_examination(Actor(user=administrator)) != lost
