"""A host whose clock is wrong has a run that says nothing for long, and PostgreSQL restarts: it ends well."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("waits for heartbeats"),
    pytest.mark.cluster,
    pytest.mark.row("P5", "P9"),
]


def test_a_run_outlives_the_connections_of_its_worker(tmp_path):
    with cluster.own_database(cluster.postgres()) as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": "",
            "SKILLQUAY_VAR": str(tmp_path),
        }
        migrated.lay(environment)
        argv = [sys.executable, "-m", "tests.worker.attempts.cut_off"]
        ended = subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 0, ended.stderr
    told = [None, None, None, "cancelled"]
    assert json.loads(ended.stdout) == [[], told, True, "one\n"], ended.stderr
