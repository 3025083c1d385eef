"""The expected mechanism of each limit is the one that a run reports."""

from __future__ import annotations

import pytest

from worker.sandbox.enforcement import planned_enforcement
from worker.sandbox.limits import cgroup
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings

pytestmark = pytest.mark.row("C6", "P8")


@pytest.mark.parametrize(("cpus", "mechanism"), [(0, "time limit"), (1, "cgroup")])
def test_cpu_is_planned_in_a_cgroup_only_with_a_limit(tmp_path, monkeypatch, cpus, mechanism):
    parent = cgroup.CgroupFolder(tmp_path, 2, frozenset(cgroup.CONTROLLERS))
    monkeypatch.setattr(cgroup, "find_parents", lambda: (parent,))
    job = Job(("true",), tmp_path, tmp_path, limits=Limits(cpus=cpus))
    planned = planned_enforcement("bwrap", job, SandboxSettings())
    assert (planned["cpu"], planned["memory"]) == (mechanism, "cgroup")
