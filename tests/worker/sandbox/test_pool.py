"""The user ids of runs: one each, and no more runs at once than there are."""

from __future__ import annotations

import os

import pytest

from registry.packages.problems import Refusal
from tests.checks import not_none
from worker.sandbox.limits.user_ids import lease_user_id
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers import available

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


def test_tiers_are_probed_again_after_the_pool_was_full(tmp_path):
    site = SandboxSettings(uid_base=3_100_000 + os.getpid(), uid_count=1)
    (tmp_path / "package").mkdir()
    (tmp_path / "job").mkdir()
    job = Job(("true",), tmp_path / "package", tmp_path / "job")
    lease = not_none(lease_user_id(site))
    reports = available.usable_tiers(site)
    assert not any(report.usable for report in reports)
    assert all("user IDs" in report.reason for report in reports if "not installed" not in report.reason)
    with pytest.raises(Refusal) as refused:
        available.run(job, site=site)
    assert refused.value.code == "SANDBOX_FULL"
    lease.release()
    before = {report.name: report.usable for report in available.usable_tiers()}
    assert {report.name: report.usable for report in available.usable_tiers(site)} == before
