"""The audit log's hash chain on both databases, with several writers and linkers that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow("processes of writers and linkers on both databases"),
    pytest.mark.cluster,
    pytest.mark.row("P2", "P9"),
]


@pytest.mark.full
@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_and_concurrent_linkers_leave_a_whole_chain(kind, tmp_path):
    database = cluster.own_database(cluster.postgres()) if kind == "postgresql" else nullcontext("")
    with database as address:
        environment = {**os.environ, "DATABASE_URL": address, "SKILLQUAY_VAR": str(tmp_path)}
        migrated.lay(environment)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.registry.audit_chain.linking"], cwd=ROOT, env=environment,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["mismatch"] is None
    assert (result["linked"], result["unlinked"]) == (result["recorded"], 0)
    assert result["killed"] == 8
