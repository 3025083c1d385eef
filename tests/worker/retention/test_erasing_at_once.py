"""Of people who are erased while they decide, or two at once, nobody waits for who waits for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.cluster, pytest.mark.row("P12", "D6", "P9")]


def test_nobody_who_is_erased_stands_in_the_way_of_a_decision_or_of_another_one(tmp_path):
    """On PostgreSQL alone: SQLite has one writer at a time."""
    with cluster.own_database(cluster.postgres()) as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": cluster.own_storage(),
            "SKILLQUAY_VAR": str(tmp_path),
        }
        migrated.lay(environment)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.worker.retention.erasing_at_once"],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {
        "of_one_who_decides": ["queued", "erased"],
        "of_two_who_let_each_other": ["erased", "erased"],
    }
