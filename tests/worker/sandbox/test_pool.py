"""The user ids of runs: one each, and no more runs at once than there are."""

from __future__ import annotations

import os

import pytest

from registry.packages.problems import Refusal
from tests.checks import not_none
from worker.sandbox.limits.user_ids import lease_user_id
from worker.sandbox.site_settings import SandboxSettings

pytestmark = [
    pytest.mark.row("C6"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has more ids"),
    pytest.mark.matrix("tier", at_most=1),
]


def test_a_run_takes_an_id_of_its_own_until_all_are_taken(tmp_path):
    site = SandboxSettings(uid_base=3_000_000, uid_count=2, staging=tmp_path / "staging")
    held = [lease_user_id(site), lease_user_id(site)]
    assert {not_none(one).uid for one in held} == {3_000_000, 3_000_001}
    with pytest.raises(Refusal) as refused:
        lease_user_id(site)
    assert refused.value.code == "SANDBOX_FULL"
    freed = not_none(held.pop())
    freed.release()
    again = not_none(lease_user_id(site))
    assert again.uid == freed.uid
    for one in (*held, again):
        not_none(one).release()
