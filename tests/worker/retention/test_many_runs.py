"""Removal of nine of ten runs next to reads; with RETENTION_RUNS=1000000 in ``make soak``."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.cluster, pytest.mark.row("P5")]
SOAK_RUNS = int(os.environ.get("RETENTION_RUNS", 0))


def test_many_runs_go_while_reads_stay_fast(tmp_path):
    """Compares times only in ``make soak``: other tests of this machine would disturb them."""
    runs = SOAK_RUNS or 2000
    with cluster.own_database(cluster.postgres()) as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": cluster.own_storage(),
            "SKILLQUAY_VAR": str(tmp_path),
        }
        migrated.lay(environment)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.worker.retention.many_runs", str(runs)],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    print(found)
    old = runs * 9 // 10
    assert found["left"] == runs - old + -(-old // 1000)  # recent and pinned ones
    assert (found["counted"], found["removal"]["done"]) == (runs, True)
    if SOAK_RUNS:
        assert found["during_ms"] <= 2 * found["before_ms"]
