"""A site is moved to the other database and restored from a backup by commands that are killed meanwhile.

TRANSFER_SKILLS and TRANSFER_RUNS set the size, TRANSFER_SECONDS when a command is killed at the latest.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.cluster,
    pytest.mark.row("P9"),
    pytest.mark.matrix("killed", at_most=1),
]
SKILLS = int(os.environ.get("TRANSFER_SKILLS", 30))
RUNS = int(os.environ.get("TRANSFER_RUNS", 300))
SECONDS = int(os.environ.get("TRANSFER_SECONDS", 3))
REPORT = """
import json
from registry.audit_chain.verification import verify
from registry.storage import blobs
from registry.transfer.database import DatabaseSource
from registry.transfer.tables import Totals, copied_tables
from registry.models import Posting, Trigger
source = DatabaseSource("default")
found = {table.name: Totals.of(source.rows(table)).document() for table in copied_tables()}
index = [Posting.objects.count(), Trigger.objects.count()]
print(json.dumps([found, sorted(blobs.digests()), index, verify().mismatch is None]))
"""


def _manage(environment, *arguments):
    argv = [sys.executable, "manage.py", *arguments]
    ended = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def report(environment):
    return json.loads(_manage(environment, "shell", "--no-imports", "-c", REPORT).splitlines()[-1])


def _kill_thrice_then_finish(environment, *arguments):
    """Leaves a finished copy; the caller compares its content."""
    draw = random.Random(os.environ["TEST_SEED"])
    argv = [sys.executable, "manage.py", *arguments]
    for _ in range(3):
        process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.5, SECONDS))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            return  # it was done before
    # Refused if a killed command had just finished the copy.
    subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=False)


def test_site_is_moved_and_restored_whole(tmp_path):
    with cluster.own_database(cluster.postgres(), tables=False) as address:
        old = {**os.environ, "SKILLQUAY_VAR": str(tmp_path / "old"), "DATABASE_URL": "", "STORAGE_URL": ""}
        migrated.lay(old)
        fill = [sys.executable, "-m", "tests.registry.transfer.fill", str(SKILLS), str(RUNS)]
        subprocess.run(fill, cwd=ROOT, env=old, check=True)
        before = report(old)

        _kill_thrice_then_finish(old, "move", "--to", address)
        moved = {**old, "DATABASE_URL": address}
        assert report(moved) == before == report(old)

        # The backup of the moved site goes back to the other database.
        _manage(moved, "backup", str(tmp_path / "site.backup"), "--keys", str(tmp_path / "keys"))
        new = {**old, "SKILLQUAY_VAR": str(tmp_path / "new")}
        migrated.lay(new)
        _kill_thrice_then_finish(
            new, "restore", str(tmp_path / "site.backup"), "--keys", str(tmp_path / "keys")
        )
        assert report(new) == before
        key = (tmp_path / "new" / "secret-key").read_text()
        assert key == (tmp_path / "old" / "secret-key").read_text()
