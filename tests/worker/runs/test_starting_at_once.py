"""Events of different teams start the same skills at the same time without a deadlock on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.cluster, pytest.mark.row("C4", "P9")]


def test_events_with_skills_in_opposite_orders_start_all(tmp_path):
    with cluster.own_database(cluster.postgres()) as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": "",
            "SKILLQUAY_VAR": str(tmp_path),
        }
        migrated.lay(environment)
        argv = [sys.executable, "-m", "tests.worker.runs.starting_at_once"]
        ended = subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 0, ended.stderr
    started = [[slug, "started"] for slug in ("one", "two")]
    assert json.loads(ended.stdout) == [started, started[::-1]]
