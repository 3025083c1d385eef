"""``/-/live``, ``/-/ready`` and ``/metrics``: which state they report, to whom, and under load."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from portal.health import endpoints
from portal.health.endpoints import HealthEndpoints
from portal.streaming.inner_request import call_app
from tests.factories.runs import make_run
from worker.health import heartbeats
from worker.models import ProcessKind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9")]


async def _django(scope, receive, send):
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"Django"})


def _scope(path, *, query="", client="127.0.0.1", method="GET", **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    return {**scope, "client": (client, 1), "headers": [(b"x-request-id", b"trace-0001"), *pairs]}


def _ask(*scopes, app=None):
    """The responses to requests that arrive at the same time."""

    async def receive():
        return {"type": "http.disconnect"}

    async def ask_all():
        target = app or HealthEndpoints(_django)
        return await asyncio.gather(*(call_app(target, scope, receive) for scope in scopes))

    with ThreadPoolExecutor(1) as threads:  # a browser test may have left a loop in this thread
        return threads.submit(asyncio.run, ask_all()).result()


def _get(path, **more):
    return _ask(_scope(path, **more))[0]


@pytest.fixture
def site(public):
    heartbeats.beat(ProcessKind.REAPER, "host:1")
    heartbeats.beat(ProcessKind.WORKER, "host:2", slots=2, busy=1, details={"disk_free": 7})
    return public


def _samples(text):
    """The values by name and labels, in the order of the labels' names."""
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def _metrics(**more):
    response = _get("/metrics", **more)
    assert response.status == 200
    return _samples(response.body)


def test_ready_reports_each_check(site):
    response = _get("/-/ready")
    document = json.loads(response.body)
    assert (response.status, document["ok"]) == (200, True), document
    assert {check["name"] for check in document["checks"]} >= {
        "database",
        "storage",
        "broker",
        "reaper",
        "queue",
    }
    assert (b"x-request-id", b"trace-0001") in response.headers
    assert (b"cache-control", b"no-store") in response.headers


def test_ready_answers_503_for_the_failing_check_only(public):
    response = _get("/-/ready")
    failed = [check["name"] for check in json.loads(response.body)["checks"] if not check["ok"]]
    assert (response.status, failed) == (503, ["reaper", "workers"])
    assert _get("/-/ready", query="check=database&check=storage").status == 200
    assert _get("/-/ready", query="check=reaper").status == 503


def test_unknown_check_is_refused(site):
    response = _get("/-/ready", query="check=databse")
    document = json.loads(response.body)
    assert (response.status, document["code"]) == (400, "CHECK_UNKNOWN")
    assert "database" in document["remedy"]
    assert document["request_id"]


def test_live_needs_no_service_and_other_paths_pass(settings):
    settings.REDIS_URL = "redis://192.0.2.1:1/0"
    assert _get("/-/live").status == 200
    assert _get("/-/live", method="HEAD").body == b""
    assert _get("/-/live", method="POST").status == 418
    assert _get("/-/other").status == 418


def test_requests_at_the_same_time_share_one_look(site, monkeypatch):
    calls, state = [], endpoints.read_state()

    def read():
        calls.append(threading.current_thread().name)
        return state

    monkeypatch.setattr(endpoints, "read_state", read)
    responses = _ask(*[_scope("/-/ready")] * 200)
    assert {response.status for response in responses} == {200}
    assert len(calls) == 1


def test_metrics_of_queue_workers_and_runs(site, alice, team):
    for status, code in (("succeeded", ""), ("succeeded", ""), ("failed", "MADE_UP_BY_SCRIPT")):
        make_run(site.latest, alice, team, status=status, failure_code=code)
    make_run(site.latest, alice, team, status="running", finished_at=None)
    found = _metrics()
    assert found["skillquay_runs_ended_total", "", "succeeded"] == 2
    assert found["skillquay_runs_ended_total", "other", "failed"] == 1
    assert found["skillquay_run_attempts_total", "succeeded"] == 2
    assert found["skillquay_run_duration_seconds_bucket", "1.0", "succeeded"] == 0
    assert found["skillquay_run_duration_seconds_bucket", "2.5", "succeeded"] == 2
    assert found["skillquay_run_duration_seconds_count", "succeeded"] == 2
    assert found["skillquay_runs", "running"] == 1
    assert found["skillquay_worker_slots", "host:2"] == 2
    assert found["skillquay_worker_busy_slots", "host:2"] == 1
    assert found["skillquay_worker_disk_free_bytes", "host:2"] == 7
    assert found["skillquay_workers",] == 1
    assert found["skillquay_check_ok", "storage"] == 1
    assert found["skillquay_disk_free_bytes",] > 0
    assert found["skillquay_reaper_age_seconds",] < 60
    assert found["skillquay_queue_oldest_seconds",] == 0


def test_metrics_count_requests_by_view_and_status(browse, public):
    before = _metrics()
    browse().get("/skills/docs/kind-review/")
    browse().get("/skills/docs/absent/")
    Client().generic("BREW", "/skills/docs/kind-review/")
    after = _metrics()

    def added(*key):
        return after.get(("skillquay_http_requests_total", *key), 0) - before.get(
            ("skillquay_http_requests_total", *key), 0
        )

    assert added("GET", "200", "skill") == 1
    assert added("GET", "404", "skill") == 1
    assert added("other", "405", "skill") == 1
    name = "skillquay_http_request_duration_seconds_count"
    assert after[name,] - before[name,] == 3


def test_metrics_without_database_still_report_it(monkeypatch, site):
    from django.db import OperationalError

    def fail():
        raise OperationalError("away")

    monkeypatch.setattr("worker.health.figures.processes", fail)
    found = _metrics()
    assert found["skillquay_check_ok", "database"] == 0
    assert found["skillquay_check_ok", "storage"] == 1
    assert ("skillquay_runs", "running") not in found


@pytest.mark.parametrize(
    ("client", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("127.0.0.1", {"x_forwarded_for": "203.0.113.9"}, 401),
        ("127.0.0.1", {"forwarded": "for=203.0.113.9"}, 401),
        ("10.0.0.9", {}, 401),
        ("", {}, 401),
    ],
)
def test_without_a_token_only_this_machine_reads_metrics(site, client, headers, status):
    response = _get("/metrics", client=client, **headers)
    assert response.status == status
    if status == 401:
        assert json.loads(response.body)["code"] == "METRICS_DENIED"


@pytest.mark.parametrize(
    ("sent", "status"), [("Bearer s3cret", 200), ("Bearer s3cre", 401), ("s3cret", 401), ("", 401)]
)
def test_with_a_token_only_its_bearer_reads_metrics(site, settings, sent, status):
    settings.SKILLQUAY_METRICS_TOKEN = "s3cret"
    response = _get("/metrics", **({"authorization": sent} if sent else {}))
    assert response.status == status
    assert _get("/metrics", client="10.0.0.9", authorization="Bearer s3cret").status == 200
