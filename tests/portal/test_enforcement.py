"""What held a run's limits is told in words that are translated."""

from __future__ import annotations

import pytest

from portal.showing.enforcement import LIMITS, NAMES, WAYS, held
from worker.sandbox.policy import Job, Limits
from worker.sandbox.running import enforcement

pytestmark = pytest.mark.row("C6", "P8")


@pytest.mark.parametrize("tier", ["bwrap", "nsrun", "landlock", "unsafe"])
@pytest.mark.parametrize("grouped", [frozenset(), frozenset({"memory", "pids", "cpu"})])
@pytest.mark.parametrize(("cpus", "network"), [(0, None), (1, ("a.example",))])
def test_each_limit_and_what_held_it_has_a_word(tier, grouped, cpus, network, tmp_path):
    job = Job(("true",), tmp_path, tmp_path, network=network, limits=Limits(cpus=cpus))
    ways = enforcement(tier, job, grouped)
    assert ways.keys() == LIMITS.keys()
    assert set(ways.values()) <= WAYS.keys() | NAMES
    assert dict(held({"enforcement": ways}))["processors"] in (
        "cgroup",
        "processors of its own",
        "time limit",
    )


def test_a_run_that_began_in_no_sandbox_held_nothing():
    assert held({}) == []
