"""Each limit of a run, and the mechanism that enforced it, has a translated label."""

from __future__ import annotations

import pytest

from portal.presenters.enforcement import LIMITS, MECHANISMS, NAMES, enforcement_rows
from worker.sandbox.enforcement import enforcement
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job

pytestmark = pytest.mark.row("C6", "P8")


@pytest.mark.parametrize("tier", ["bwrap", "nsrun", "landlock", "unsafe"])
@pytest.mark.parametrize("grouped", [frozenset(), frozenset({"memory", "pids", "cpu"})])
@pytest.mark.parametrize(("cpus", "network"), [(0, None), (1, ("a.example",))])
def test_each_limit_and_what_held_it_has_a_word(tier, grouped, cpus, network, tmp_path):
    job = Job(("true",), tmp_path, tmp_path, network=network, limits=Limits(cpus=cpus))
    ways = enforcement(tier, job, grouped)
    assert ways.keys() == LIMITS.keys()
    assert set(ways.values()) <= MECHANISMS.keys() | NAMES
    assert len(enforcement_rows({"enforcement": ways})) == len(LIMITS)


def test_polled_limit_shows_its_interval():
    rows = dict(enforcement_rows({"enforcement": {"memory": "watchdog", "disk": "tmpfs"}}))
    assert "50" in rows[str(LIMITS["memory"])]
    assert "tmpfs" in rows[str(LIMITS["disk"])]


def test_a_run_that_began_in_no_sandbox_held_nothing():
    assert enforcement_rows({}) == []
