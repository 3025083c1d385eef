from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import cluster
from tests.checks import not_none
from tests.conftest import ROOT
from tests.faults.conftest import TIMES

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.row("P3"),
]

KILLS = 10 * TIMES


@pytest.fixture
def site(make_environment):
    return make_environment("from registry.models import Team; Team.objects.create(slug='t', name='T')")


def test_whatever_moment_a_publisher_dies_at_each_version_is_whole_or_absent(site):
    dice = random.Random()
    argv = [sys.executable, "-m", "tests.faults.publisher"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, cwd=ROOT, env=site, stdin=pipe, stdout=pipe, text=True, bufsize=1
    ) as publisher:
        for kill in range(KILLS):
            last = kill == KILLS - 1  # has time to publish, also on a loaded machine
            _publish_and_kill(publisher, kill, after=2.0 if last else dice.uniform(0, 0.4))
        not_none(publisher.stdin).close()
    found = subprocess.run(
        [sys.executable, "-m", "tests.registry.versions.whole"],
        cwd=ROOT,
        env=site,
        check=False,
        timeout=60,
        text=True,
        capture_output=True,
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout.split()[0]) > 0
    if not site["DATABASE_URL"]:
        with cluster.connected(Path(site["SKILLQUAY_VAR"]) / "skillquay.sqlite3") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _publish_and_kill(publisher, seed, *, after):
    publisher.stdin.write(f"{seed}\n")
    child = int(publisher.stdout.readline())
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    assert publisher.stdout.readline() == "-9\n"
