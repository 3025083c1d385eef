"""The checks of a site: what they report, and that none of them can hang."""

from __future__ import annotations

import io
import json
import socket
import threading
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from worker.health import checks, heartbeats
from worker.health.bounded_call import BoundedCall
from worker.health.status import ready_document
from worker.models import ProcessKind, Run, ServiceProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9")]


def _status():
    out, code = io.StringIO(), 0
    try:
        call_command("status", "--json", stdout=out)
    except SystemExit as ended:
        code = int(str(ended.code))
    document = json.loads(out.getvalue())
    return code, document, {check["name"]: check["ok"] for check in document["checks"]}


@pytest.fixture
def site(hello):
    """A site with a worker, a reaper and a blob; ``hello`` is a published skill."""
    heartbeats.beat(ProcessKind.REAPER, "host:1")
    heartbeats.beat(ProcessKind.WORKER, "host:2", slots=2, busy=1)
    return hello


def test_status_of_a_working_site(site):
    code, document, results = _status()
    assert (code, document["ok"]) == (0, True), document
    assert results == dict.fromkeys(checks.NAMES, True)
    assert set(document) == {"ok", "version", "checks", "queue", "workers"}
    assert document["queue"] == {"runnable": 0, "oldest_s": None}
    [worker] = document["workers"]
    assert (worker.pop("heartbeat_s") < 30, worker) == (True, {"name": "host:2", "slots": 2, "busy": 1})


def test_status_without_worker_and_reaper_fails(hello):
    code, document, results = _status()
    assert (code, document["ok"]) == (1, False)
    assert [name for name, ok in results.items() if not ok] == ["reaper", "workers"]


def test_empty_storage_of_a_new_site_is_fine(db, local_storage, settings, tmp_path):
    settings.SKILLQUAY_VAR = tmp_path
    assert _status()[2]["storage"] is True


def test_lost_storage_is_reported(local_storage, site, settings, tmp_path):
    settings.SKILLQUAY_VAR = tmp_path
    assert _status()[2]["storage"] is False


def test_broker_that_never_answers_is_reported_in_bounded_time(site, settings, monkeypatch):
    monkeypatch.setattr(checks, "TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        results = _status()[2]
    assert [name for name, ok in results.items() if not ok] == ["broker"]


def test_refused_broker_names_its_address_to_operators_only(site, settings):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.REDIS_URL = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
        [broker] = [check for check in _status()[1]["checks"] if check["name"] == "broker"]
        state = checks.read_state()
    assert "127.0.0.1" in broker["detail"]
    public = json.dumps(ready_document(state))
    assert '"name": "broker", "ok": false' in public
    assert "127.0.0.1" not in public


def test_waiting_runs_are_a_fault_only_while_a_slot_is_free(site, queue_run):
    queue_run(site)
    assert _status()[2]["queue"]  # it has just come
    Run.objects.update(run_after=timezone.now() - timedelta(minutes=5))
    code, document, results = _status()
    assert (code, results["queue"]) == (1, False)
    assert document["queue"]["runnable"] == 1
    assert document["queue"]["oldest_s"] >= 300
    heartbeats.beat(ProcessKind.WORKER, "host:2", slots=2, busy=2)
    assert _status()[2]["queue"]


def test_runs_of_a_team_at_its_limit_are_no_fault(site, team, queue_run, settings):
    settings.SKILLQUAY_TEAM_LIMITS = {**settings.SKILLQUAY_TEAM_LIMITS, "concurrent_runs": 1}
    queue_run(site, team=team)
    queue_run(site, team=team)
    Run.objects.update(run_after=timezone.now() - timedelta(minutes=5))
    Run.objects.filter(pk=Run.objects.earliest("pk").pk).update(status="running")
    assert _status()[2]["queue"]


def test_hanging_call_is_started_once():
    release, starts = threading.Event(), []

    def hang():
        starts.append(1)
        release.wait(10)
        return "done"

    call = BoundedCall(hang)
    first, second = call.start(), call.start()
    with pytest.raises(TimeoutError):
        second.result(0.01)
    release.set()
    assert first is second
    assert (first.result(10), len(starts)) == ("done", 1)
    assert call.start().result(10) == "done"
    assert len(starts) == 2


def test_disk_below_the_floor_is_reported(site, monkeypatch):
    usage = type("Usage", (), {"free": 2**29, "total": 2**40})
    monkeypatch.setattr("worker.health.checks.shutil.disk_usage", lambda path: usage)
    assert _status()[2]["disk"] is False


def test_silent_reaper_is_reported(site):
    ServiceProcess.objects.filter(kind="reaper").update(seen_at=timezone.now() - timedelta(minutes=5))
    assert _status()[2]["reaper"] is False


def test_reaper_records_its_tick(hello):
    from worker.service.reaper import reap_once

    reap_once()
    assert [process.kind for process in heartbeats.processes()] == ["reaper"]
