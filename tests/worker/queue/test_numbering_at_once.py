"""Concurrent requests of one skill get different numbers, without gaps, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT
from tests.worker.queue.numbering_at_once import RUNS, THREADS

pytestmark = [
    pytest.mark.full,
    pytest.mark.cluster,
    pytest.mark.row("P5", "P9"),
    pytest.mark.matrix("vendor", at_most=1),
]


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_concurrent_runs_have_different_numbers(vendor, tmp_path):
    postgres = vendor == "postgresql"
    with cluster.own_database(cluster.postgres()) if postgres else nullcontext("") as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": "",
            "SKILLQUAY_VAR": str(tmp_path),
        }
        migrated.lay(environment)
        argv = [sys.executable, "-m", "tests.worker.queue.numbering_at_once"]
        ended = subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == list(range(1, THREADS * RUNS + 1))
