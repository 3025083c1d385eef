"""A backup that is taken while the site is busy, restored on the other database."""

from __future__ import annotations

import json
import threading
import time

import pytest

from tests import cluster, migrated
from tests.registry.transfer.test_killed import report

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.cluster,
    pytest.mark.row("P9", "P5"),
]
DIGESTS = """
import json
from registry.models import Version
print(json.dumps(sorted(set(Version.objects.values_list("digest", flat=True)))))
"""
PUBLISHERS, RUNS_PER_S, SECONDS_BEFORE = 5, 5, 3


def test_backup_of_a_busy_site_is_consistent_on_the_other_database(make_site, tmp_path):
    limits = {"SKILLQUAY_PUBLICATIONS_PER_MINUTE": "0", "SKILLQUAY_RUNS_PER_MINUTE": "0"}
    site = make_site(DATABASE_URL="", STORAGE_URL="", REDIS_URL="", **limits)
    site.start()
    site.publish("quick", "print('{}')", team="ops")
    is_written = threading.Event()
    refused: list[bytes] = []

    def publish(number):
        version = 0
        while not is_written.is_set():
            version += 1
            status, _, body = site.upload(
                f"skill-{number}", f"print('{version}')", team="ops", number=f"1.{version}.0"
            )
            if status != 201:
                refused.append(body)

    def run():
        while not is_written.is_set():
            site.run("ops/quick")
            time.sleep(1 / RUNS_PER_S)

    threads = [threading.Thread(target=publish, args=(n,)) for n in range(PUBLISHERS)]
    threads.append(threading.Thread(target=run))
    for thread in threads:
        thread.start()
    time.sleep(SECONDS_BEFORE)
    files = (str(tmp_path / "site.zip"), "--keys", str(tmp_path / "keys"), "--json")
    try:
        written = json.loads(site.manage("backup", *files).stdout)
    finally:
        is_written.set()
        for thread in threads:
            thread.join()
    assert refused == []
    site.stop()

    with cluster.own_database(cluster.postgres(), tables=False) as address:
        new = {"SKILLQUAY_VAR": str(tmp_path / "new"), "DATABASE_URL": address}
        migrated.lay({**site.environment, **new})
        assert json.loads(site.manage("restore", *files, **new).stdout)["rows"] == written["rows"]
        tables, blobs, _index, is_audit_complete = report({**site.environment, **new})
        assert is_audit_complete
        assert tables["registry.Version"]["rows"] > PUBLISHERS
        assert tables["worker.Run"]["rows"] >= RUNS_PER_S
        packages = site.manage("shell", "--no-imports", "-c", DIGESTS, **new).stdout.splitlines()[-1]
        assert set(json.loads(packages)) <= set(blobs), "each version can be read"
        site.manage("set_up", **new)
