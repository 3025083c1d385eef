"""Uploads in chunks whose process is killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.checks import not_none
from tests.conftest import ROOT
from tests.faults.conftest import TIMES

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("kills processes"),
    pytest.mark.faults,
    pytest.mark.row("P3", "P10"),
]
KILLS = 10 * TIMES


@pytest.fixture
def site(make_environment):
    return make_environment("from registry.models import User; User.objects.create(username='alice')")


def test_upload_continues_where_its_process_was_killed(site):
    dice, pipe = random.Random(), subprocess.PIPE
    argv = [sys.executable, "-m", "tests.faults.uploader"]
    with subprocess.Popen(
        argv, cwd=ROOT, env=site, stdin=pipe, stdout=pipe, text=True, bufsize=1
    ) as uploader:
        given, answers = not_none(uploader.stdin), not_none(uploader.stdout)
        for kill in range(KILLS):
            given.write("upload\n")
            child = int(answers.readline())
            time.sleep(2.0 if kill == KILLS - 1 else dice.uniform(0, 1))
            os.kill(child, signal.SIGKILL)
            assert answers.readline() == "-9\n"
        given.write("check\n")
        whole, begun = map(int, answers.readline().split())
    assert whole == begun > 0
