"""The broker gone, the disk full: answers stay honest, and what was asked for comes when they are back."""

from __future__ import annotations

import json
import os
import time

import pytest
from redis import Redis

from tests.faults.conftest import BUSY
from tests.faults.remains import fill
from tests.site import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.row("P5", "P9"),
]
ROOM = 60  # MB


def test_a_run_asked_for_while_the_broker_is_gone_or_takes_nothing_runs_later(make_site, redis):
    site = make_site(REDIS_URL=redis.url)
    server = redis.start()
    site.start()
    site.publish("once", BUSY, team="ops")
    assert site.run("ops/once", wait=30)["status"] == "succeeded"
    site.wait_for(lambda: _failing_checks(site) == [])
    busy = [site.run("ops/once", seconds=2) for _ in range(6)]  # every slot, and as many wake-ups fetched
    site.wait_for(lambda: site.rows("SELECT count(*) FROM worker_run WHERE status = 'running'") == [(2,)])
    server.kill()
    server.wait()
    site.wait_for(lambda: "broker" in _failing_checks(site))
    run = _asked_in_vain(site)
    ended = "SELECT count(*) FROM worker_run WHERE finished_at IS NOT NULL"
    site.wait_for(lambda: site.rows(ended)[0][0] >= 3)
    time.sleep(1)  # the slots take the fetched wake-ups, which can't be acknowledged in Redis
    redis.start()
    for each in [*busy, run]:
        assert site.ended(each, wait=60)["status"] == "succeeded"
    assert len(site.pids("worker")) == 1, "the same worker fetches again"
    site.wait_for(lambda: _failing_checks(site) == [])
    with Redis.from_url(redis.url) as broker:
        broker.flushall()
        assert site.run("ops/once", wait=30)["status"] == "succeeded"
        broker.replicaof("127.0.0.1", "1")
        site.wait_for(lambda: "broker" in _failing_checks(site))
        run = _asked_in_vain(site)
        broker.replicaof("NO", "ONE")
    assert site.ended(run, wait=60)["status"] == "succeeded"


def _failing_checks(site):
    """The names of the checks that /-/ready reports as failing."""
    status, _, body = site.ask("/-/ready", token=None)
    failing = [check["name"] for check in json.loads(body)["checks"] if not check["ok"]]
    assert status == (503 if failing else 200)
    return failing


def _asked_in_vain(site):
    status, _, body = site.ask("/api/v1/runs", body={"skill": "ops/once"})
    run = json.loads(body)
    assert (status, run["status"]) == (202, "queued")
    return run


def test_a_full_disk_is_said_and_survived(disk, make_site):
    small_disk = disk(ROOM)
    site = make_site(small_disk, DATABASE_URL="", STORAGE_URL="", REDIS_URL="", SKILLQUAY_MIN_FREE_MB="1")
    site.start()
    site.publish("once", BUSY, team="ops")
    assert site.run("ops/once", wait=30)["status"] == "succeeded"
    under_way = site.run("ops/once", seconds=1.5)
    site.wait_for(lambda: site.rows("SELECT 1 FROM worker_run WHERE status = 'running' AND log_bytes > 0"))
    filler = small_disk / "var" / "filler"
    fill(filler)
    asked = [site.ask("/api/v1/runs", body={"skill": "ops/once"}) for _ in range(3)]
    assert {status for status, _, _ in asked} <= {202, 503, 507}, asked
    assert all("code" in json.loads(body) for status, _, body in asked if status != 202)
    status, _, body = site.ask("/api/v1/inputs?name=a.bin", body=os.urandom(500_000))
    assert (status, bool(json.loads(body)["code"])) in ((503, True), (507, True)), body
    assert site.ask("/api/v1/skills")[0] == 200
    _is_refused_for_the_full_disk(site)
    assert not list((small_disk / "var" / "blobs").rglob(".coming-*"))
    filler.unlink()
    assert site.sign_in()[0] == 200
    site.publish("large", BUSY, team="ops")
    assert site.run("ops/large", wait=30)["status"] == "succeeded"
    for run in [under_way, *(json.loads(body) for status, _, body in asked if status == 202)]:
        assert site.ended(run)["status"] in ("succeeded", "failed", "lost")
    assert "begun" in site.ask(f"/api/v1/runs/{under_way['id']}/log")[2].decode()
    assert site.rows("PRAGMA integrity_check") == [("ok",)]
    assert not list((small_disk / "var" / "blobs").rglob(".coming-*"))
    last = site.run("ops/once", seconds=1.5)
    site.wait_for(lambda: site.rows("SELECT 1 FROM worker_run WHERE status = 'running' AND log_bytes > 0"))
    assert site.stop() == 0
    ended = site.rows(f"SELECT status, attempt FROM worker_run WHERE uid = '{last['id']}'")
    assert ended == [("succeeded", 1)], "it had its time"


def _is_refused_for_the_full_disk(site):
    """Publishing and signing in say why they can't, and leave nothing half-done."""
    status, headers, body = site.upload("half", f"# {os.urandom(50_000).hex()}", team="ops")
    assert (status, json.loads(body)["code"], headers["Retry-After"]) == (507, "BODY_UNSTORABLE", "1")
    status, headers, body = site.upload("half", "", team="ops")
    assert (status, json.loads(body)["code"], headers["Retry-After"]) == (507, "DISK_FULL", "60")
    assert site.ask("/api/v1/skills/ops/half")[0] == 404
    status, page, is_signed_in = site.sign_in()
    assert (status, is_signed_in) == (507, False)
    assert 'data-code="DISK_FULL"' in page
    published = site.manage(
        "publish_package", str(ROOT / "examples" / "two-actions"), "--team", "ops", check=False
    )
    assert published.returncode == 1
    assert "DISK_FULL" in published.stdout
