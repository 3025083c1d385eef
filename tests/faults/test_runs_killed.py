"""Real workers under a real supervisor, killed for real: runs end once, honestly, and leave nothing."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests import cluster
from tests.faults.conftest import BUSY
from tests.faults.remains import children, groups, is_alive, processes_of_runs

pytestmark = [
    pytest.mark.matrix(at_most=1),
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.row("P5", "P9"),
]
ATTEMPTS = 2
# It looks first whether it is isolated: outside it would end every process of whoever runs the tests.
KILLER = """
import contextlib, os, sys
if os.getpid() > 100 or os.path.exists("/etc/shadow"):
    sys.exit("not isolated: nothing is killed")
with contextlib.suppress(ProcessLookupError):
    os.kill(-1, 9)
os.kill(0, 9)
"""


@pytest.fixture(scope="module")
def site(make_site):
    site = make_site(SKILLQUAY_MAX_RUN_ATTEMPTS=str(ATTEMPTS))
    site.start()
    site.publish("once", BUSY, team="ops")
    site.publish("again", BUSY, team="ops", front="retry_on_lost: true\n")
    return site


def _kill_worker(site):
    """SIGKILL; returns the processes that the worker had, none of which outlives it."""
    worker = site.pids("worker")[-1]
    had = children(worker)
    os.kill(worker, signal.SIGKILL)
    site.wait_for(lambda: not any(map(is_alive, had)))
    site.wait_for(lambda: site.pids("worker")[-1] != worker)
    return had


def test_runs_of_a_killed_worker_are_lost_or_repeated_and_leave_nothing(site):
    once, again = site.run("ops/once", seconds=300), site.run("ops/again", seconds=2)
    running = "SELECT 1 FROM worker_run WHERE status = 'running' AND log_bytes > 0"
    site.wait_for(lambda: len(site.rows(running)) == 2)
    had = _kill_worker(site)
    site.wait_for(lambda: not processes_of_runs(site))
    site.wait_for(lambda: groups(had) == [])
    ended = site.ended(once)
    assert (ended["status"], ended["failure_code"], ended["attempt"]) == ("lost", "WORKER_LOST", 1)
    ended = site.ended(again)
    assert (ended["status"], ended["attempt"]) == ("succeeded", 2)


def _held_by(site, run, attempt):
    """The process that has this attempt of the run, once that has printed something."""
    held = f"""SELECT worker FROM worker_attempt WHERE number = {attempt} AND run_id = (
        SELECT id FROM worker_run WHERE uid = '{run["id"]}' AND attempt = {attempt} AND log_bytes > 0)"""
    return int(site.wait_for(lambda: site.rows(held))[0][0].rpartition(":")[2])


def _end_lease(site, run):
    with site.connected() as database:
        database.execute(f"UPDATE worker_run SET lease_until = '2026-01-01' WHERE uid = '{run['id']}'")


def test_a_run_that_ends_its_worker_each_time_is_lost_after_its_attempts(site):
    run = site.run("ops/again", seconds=300)
    for attempt in range(1, ATTEMPTS + 1):
        os.kill(_held_by(site, run, attempt), signal.SIGKILL)
        _end_lease(site, run)
    ended = site.ended(run)
    assert (ended["status"], ended["failure_code"], ended["attempt"]) == ("lost", "WORKER_LOST", ATTEMPTS)
    site.wait_for(lambda: not processes_of_runs(site))


def test_a_worker_that_stood_still_for_long_writes_nothing_when_it_goes_on(site):
    run = site.run("ops/again", seconds=2)
    worker = _held_by(site, run, 1)
    os.kill(worker, signal.SIGSTOP)
    try:
        _end_lease(site, run)
        ended = site.ended(run)
        assert (ended["status"], ended["attempt"]) == ("succeeded", 2)
    finally:
        os.kill(worker, signal.SIGCONT)
    site.wait_for(lambda: not processes_of_runs(site))
    site.wait_for(lambda: f"Run {run['id']}, attempt 1, lost its lease" in site.log.read_text())
    assert site.ended(run) == ended
    lost = "SELECT count(*) FROM worker_attempt WHERE number = 1 AND status = 'lost' AND run_id = "
    assert site.rows(f"{lost}(SELECT id FROM worker_run WHERE uid = '{run['id']}')") == [(1,)]


def test_a_cancel_is_felt_at_once(site):
    run = site.run("ops/once", seconds=300)
    site.wait_for(lambda: processes_of_runs(site))
    site.ask(f"/api/v1/runs/{run['id']}/cancel", body={})
    assert site.ended(run)["status"] == "cancelled"
    assert processes_of_runs(site) == []


def test_a_script_that_kills_what_it_can_reaches_nobody_else(site):
    site.publish("killer", KILLER, team="ops")
    assert site.run("ops/once", wait=30)["status"] == "succeeded"
    workers, before = site.pids("worker"), children(site.pids("worker")[-1])
    killed = site.run("ops/killer", wait=30)
    assert (killed["status"], killed["stderr"]) == ("failed", "")
    assert site.run("ops/once", wait=30)["status"] == "succeeded"
    assert site.pids("worker") == workers
    assert set(before) <= set(children(workers[-1]))


def test_a_worker_told_to_end_ends_its_run_first(site):
    """A signal to the whole group, as a terminal or an init sends it."""
    run = site.run("ops/once", seconds=2)
    site.wait_for(lambda: processes_of_runs(site))
    worker = site.pids("worker")[-1]
    os.killpg(worker, signal.SIGTERM)
    ended = site.ended(run)
    assert (ended["status"], ended["attempt"]) == ("succeeded", 1)
    site.wait_for(lambda: site.pids("worker")[-1] != worker)
    assert "worker ended with status 0" in site.log.read_text()


def test_a_run_ends_though_the_database_is_locked_for_five_seconds(site):
    run = site.run("ops/once", seconds=1)
    site.wait_for(lambda: processes_of_runs(site))
    with site.connected() as other:
        for statement in cluster.lock_of("worker_run", other):
            other.execute(statement)
        time.sleep(5)
        other.execute("ROLLBACK")
    assert site.ended(run)["status"] == "succeeded"
