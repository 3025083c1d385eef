"""A worker that starts nothing although it should ends; one that has no reason to start anything does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from tests.site import ROOT
from worker.models import Run
from worker.queue import claims, fair_queue
from worker.service.deaf_worker import PATIENCE_S, DeafnessDetector

pytestmark = [pytest.mark.row("P5", "P9")]


def _checks(*checks):
    """The answers of one detector to checks of (time, started tasks, whether a task is expected)."""
    detector = DeafnessDetector()
    return [
        detector.is_deaf(now, started=started, is_expected=partial(bool, expected))
        for now, started, expected in checks
    ]


def test_worker_is_deaf_after_half_a_minute_without_a_task_that_it_should_start():
    assert _checks((0, 0, True), (PATIENCE_S - 1, 0, True), (PATIENCE_S, 0, True)) == [False, False, True]


@pytest.mark.parametrize("reason", [(20, 1, True), (20, 0, False)], ids=["started a task", "none expected"])
def test_patience_starts_again_after_a_reason_to_be_quiet(reason):
    later = reason[1]
    answers = _checks((0, 0, True), reason, (31, later, True), (50, later, True), (61, later, True))
    assert answers == [False, False, False, False, True]


@pytest.mark.django_db
def test_overdue_runs_are_those_that_a_slot_may_claim(hello, queue_run, settings):
    settings.SKILLQUAY_TEAM_LIMITS = {**settings.SKILLQUAY_TEAM_LIMITS, "concurrent_runs": 1}
    now = timezone.now()
    Run.objects.filter(pk=queue_run(hello).pk).update(run_after=now - timedelta(minutes=1))
    assert fair_queue.claimable_runs(now - timedelta(seconds=PATIENCE_S)).exists()
    assert not fair_queue.claimable_runs(now - timedelta(minutes=2)).exists()
    queue_run(hello)
    claims.claim_next("host:1")
    assert not fair_queue.claimable_runs(now + timedelta(minutes=2)).exists(), "its team has a run running"


@pytest.fixture
def deaf_site(tmp_path):
    """A site with a run that waits and no worker of its own."""
    from tests.site import Site

    site = Site(tmp_path, SKILLQUAY_EXAMPLES="0")
    site.set_up("ops")
    yield site
    site.stop()


@pytest.mark.full
@pytest.mark.faults
@pytest.mark.slow("waits until the worker has lost its patience")
def test_worker_that_gets_no_wake_ups_ends_with_one_line(deaf_site, tmp_path):
    request = """
from registry.identity.actors import Actor
from registry.models import Team, User
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from worker.protocols.call import Request
from worker.runs.request import request_run
actor = Actor(user=User.objects.get(username="admin"))
head = b"---\\nname: hello\\ndescription: For tests.\\nversion: 1.0.0\\n---\\n# hello\\n"
package = read_files([("SKILL.md", head), ("scripts/hello.py", b"print(1)")])
version = publish(package, team=Team.objects.get(slug="ops"), actor=actor, visibility="private").version
request_run(actor=actor, version=version, request=Request(inputs={}))
"""
    deaf_site.manage("shell", "--no-imports", "-c", request.replace("\\\\", "\\"))
    argv = [sys.executable, "-m", "celery", "--quiet", "-A", "worker", "worker", "--queues", "another"]
    argv += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--concurrency", "1"]
    log = tmp_path / "worker.log"
    with log.open("wb") as file:
        worker = subprocess.Popen(
            argv, cwd=ROOT, env=deaf_site.environment, stdout=file, stderr=file, start_new_session=True
        )
    try:
        assert worker.wait(PATIENCE_S * 2 + 60) == 0
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    assert log.read_text().count("idle slots get no wake-ups") == 1
