"""Real workers, killed for real: every run ends once, honestly, and nothing of it stays alive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests import cluster
from tests.conftest import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.row("P5", "P9")]

RUNS = 60
LEASE_S = 3
SKILL = """---
name: busy
description: Works a little and counts itself.
version: 1.0.0
retry_on_lost: true
---
# Busy
"""
SCRIPT = """
import json, time
time.sleep(0.15)
print(json.dumps({"done": True}))
"""
PREPARE = """
import django, sys; django.setup()
from registry.actors import Actor
from registry.models import Team, User
from registry.packages.reading import read_files
from registry.publishing import publish
from worker import runs, states
from worker.protocols.call import Request
runs.wake = lambda: True
actor = Actor(user=User.objects.create_superuser("root", password=None))
team = Team.objects.create(slug="faults", name="Faults")
files = [("SKILL.md", sys.argv[1].encode()), ("scripts/busy.py", sys.argv[2].encode())]
version = publish(read_files(files), team=team, actor=actor).version
for number in range(int(sys.argv[3])):
    runs.request_run(actor=actor, version=version, request=Request(inputs={"number": number}))
"""


class Site:
    """A site of its own: database, broker, and the processes that a test starts and kills."""

    def __init__(self, folder: Path, corner: dict[str, str]) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")},
            "SKILLQUAY_VAR": str(folder),
            "SKILLQUAY_WORKERS": "2",
            "SKILLQUAY_LEASE_SECONDS": str(LEASE_S),
            "SKILLQUAY_LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            **corner,
        }

    def call(self, *arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=self.environment, check=True, timeout=60)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        flags = ("--pool", "prefork", "--loglevel", "ERROR", "--without-gossip", "--without-mingle")
        return self.start("-m", "celery", "-A", "worker", "worker", *flags, "--without-heartbeat")

    def reaper(self) -> subprocess.Popen[bytes]:
        return self.start("manage.py", "reap")

    def rows(self, query: str) -> list[tuple]:
        with self.connected() as database:
            return database.execute(query).fetchall()

    def connected(self) -> AbstractContextManager[Any]:
        return cluster.connected(self.environment["DATABASE_URL"] or self.folder / "skillquay.sqlite3")

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def site(tmp_path):
    with cluster.corner() as corner:
        site = Site(tmp_path / "var", corner)
        site.call("manage.py", "migrate", "--verbosity", "0")
        yield site
        site.end()


def _until(done, seconds):
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "this takes too long"
        time.sleep(0.05)


def _kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def _processes_of_runs(folder):
    """Processes whose command line or folder is that of a run of this site."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"/skill/scripts/busy.py" in words:
            found.append((entry.name, words))
    return found


def test_sixty_runs_outlive_three_killed_workers(site):
    site.call("-c", PREPARE, SKILL, SCRIPT, str(RUNS))
    site.reaper()
    for _ in range(3):
        worker = site.worker()
        before = site.rows("SELECT count(*) FROM worker_run WHERE finished_at IS NOT NULL")[0][0]
        _until(
            lambda seen=before: (
                site.rows("SELECT count(*) FROM worker_run WHERE finished_at IS NOT NULL")[0][0]
                >= min(seen + 8, RUNS)
            ),
            30,
        )
        _kill(worker)
    site.worker()
    _until(lambda: not site.rows("SELECT 1 FROM worker_run WHERE finished_at IS NULL LIMIT 1"), 45)
    ended = dict(site.rows("SELECT status, count(*) FROM worker_run GROUP BY status"))
    assert sum(ended.values()) == RUNS
    assert set(ended) <= {"succeeded", "lost"}
    twice = site.rows(
        "SELECT run_id FROM worker_attempt WHERE status = 'succeeded' GROUP BY run_id HAVING count(*) > 1"
    )
    assert twice == []
    results = site.rows("SELECT cast(result AS text) FROM worker_run WHERE status = 'succeeded'")
    assert all(json.loads(result)["outputs"] == {"done": True} for (result,) in results)
    _until(lambda: not _processes_of_runs(site.folder), 5)


def test_a_run_ends_though_the_database_is_locked_for_five_seconds(site):
    site.call("-c", PREPARE, SKILL, SCRIPT, "4")
    site.worker()
    site.reaper()
    _until(lambda: site.rows("SELECT 1 FROM worker_run WHERE status = 'running' LIMIT 1"), 30)
    with site.connected() as other:
        for statement in cluster.lock_of("worker_run", other):
            other.execute(statement)
        time.sleep(5)
        other.execute("ROLLBACK")
    _until(lambda: not site.rows("SELECT 1 FROM worker_run WHERE finished_at IS NULL LIMIT 1"), 30)
    assert dict(site.rows("SELECT status, count(*) FROM worker_run GROUP BY status")) == {"succeeded": 4}
