"""The user ids of runs: one each, and no more runs at once than there are."""

from __future__ import annotations

import os

import pytest

from registry.packages.problems import Refused
from worker.sandbox import Site
from worker.sandbox.pool import lease

pytestmark = [pytest.mark.row("C6"), pytest.mark.skipif(os.geteuid() != 0, reason="only root has more ids")]


def test_a_run_takes_an_id_of_its_own_until_all_are_taken(tmp_path):
    site = Site(uid_base=3_000_000, uid_count=2, staging=tmp_path / "staging")
    held = [lease(site), lease(site)]
    assert {one.uid for one in held} == {3_000_000, 3_000_001}
    with pytest.raises(Refused) as refused:
        lease(site)
    assert refused.value.code == "SANDBOX_FULL"
    freed = held.pop()
    freed.release()
    again = lease(site)
    assert again.uid == freed.uid
    for one in (*held, again):
        one.release()
