"""The status page: administrators see services, queue, workers and what enforces the limits of runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages import is_chinese, part, parts
from worker.health import checks, heartbeats
from worker.health.bounded_call import BoundedCall
from worker.models import ProcessKind, ServiceProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9", "C6")]


@pytest.fixture
def administrator(django_user_model):
    return django_user_model.objects.create_superuser("root")


@pytest.fixture
def workers(public):
    details = {
        "tier": "bwrap",
        "enforcement": {"memory": "cgroup", "disk": "watchdog"},
        "disk_free": 5 * 10**9,
    }
    heartbeats.beat(ProcessKind.REAPER, "host:1")
    heartbeats.beat(ProcessKind.WORKER, "host:2", slots=2, busy=1, details=details)
    heartbeats.beat(ProcessKind.WORKER, "host:3", slots=4, details=details)
    heartbeats.beat(
        ProcessKind.WORKER,
        "old:4",
        slots=1,
        details={"tier": "", "enforcement": {}, "reason": "<b>No tier</b>"},
    )
    ServiceProcess.objects.filter(name="host:3").update(seen_at=timezone.now() - timedelta(minutes=2))
    ServiceProcess.objects.filter(name="old:4").update(version="0.0.9")


def test_only_administrators_find_the_page(client, bob):
    assert client.get("/site/").status_code == 302
    client.force_login(bob)
    assert client.get("/site/").status_code == 404
    assert 'href="/site/"' not in client.get("/skills/").content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_working_site(browse, administrator, workers, language):
    page = browse(administrator, language).get("/site/")
    assert part(page, "site")["state"] == "ok"
    assert {row["value"]: row["state"] for row in parts(page, "check")} == dict.fromkeys(checks.NAMES, "ok")
    assert all(is_chinese(row.text) == (language == "zh-hans") for row in parts(page, "check"))
    assert {row["value"]: row["state"] for row in parts(page, "process")} == {
        "host:1": "alive",
        "host:2": "alive",
        "host:3": "silent",
        "old:4": "alive",
    }
    assert "1 / 2" in part(page, "process", value="host:2")
    assert "0.0.9" in part(page, "process", value="old:4")
    assert part(page, "runnable")["value"] == "0"


def test_limits_are_grouped_by_what_enforces_them(browse, administrator, workers):
    page = browse(administrator).get("/site/")
    groups = {group["value"]: group for group in parts(page, "limits")}
    assert set(groups) == {"bwrap", ""}
    assert "host:2" in groups["bwrap"]
    assert len(groups["bwrap"].parts("limit")) == 2
    assert "cgroup" in groups["bwrap"]
    assert "<b>No tier</b>" in groups[""]  # as text


def test_failing_service_is_named_with_its_cause(browse, administrator, workers, monkeypatch):
    def fail():
        raise OSError("broker.example refused")

    calls = {**checks._CALLS, "broker": BoundedCall(fail)}
    monkeypatch.setattr(checks, "_CALLS", calls)
    page = browse(administrator).get("/site/")
    assert part(page, "site")["state"] == "failing"
    broker = part(page, "check", value="broker")
    assert (broker["state"], "broker.example refused" in broker) == ("failing", True)


def test_site_without_processes_offers_a_way(browse, administrator, public):
    page = browse(administrator).get("/site/")
    assert part(page, "empty")["state"] == "none"
    assert part(page, "check", value="workers")["state"] == "failing"
