"""Broker, database, storage and workers go away while every slot is busy and 200 runs wait."""

from __future__ import annotations

from functools import partial

import pytest

from tests.faults.restarts import GROUPS, SLOTS, make_restart_site
from tests.faults.site_report import wait_for_report
from worker.core.host import host_name

pytestmark = [pytest.mark.slow("a whole site in processes"), pytest.mark.faults, pytest.mark.row("P5", "P9")]
LIMIT_S = 15.0
MAX_PAUSE_S = 8.0  # of a slot of another group: a run takes 0.6 s, a loaded machine some more
FAULTS = {
    "restart_redis": {"broker"},
    "restart_postgres": {"database", "reaper", "workers"},  # the database knows about the others
    "take_storage": {"storage"},
}


def _wait_for_report(site, failing=(), groups=GROUPS):
    """Waits until ``/-/ready`` and ``/metrics`` report these checks as failing, and these groups as alive."""
    if "database" in failing:
        wait_for_report(site.site, failing=failing)
    else:
        names = [f"{host_name()}:{site.pid(group)}" for group in groups]
        wait_for_report(site.site, failing=failing, workers=names, slots=SLOTS * len(groups))


@pytest.mark.full
def test_slots_work_again_after_each_restart_and_no_script_runs_twice(make_site, redis, tmp_path):
    site = make_restart_site(make_site, redis, tmp_path)
    figures = {}
    try:
        for name, failing in FAULTS.items():
            site.fill()
            _wait_for_report(site)
            site.before_repair = partial(_wait_for_report, site, failing)
            moment = getattr(site, name)()
            figures[name] = site.seconds_until_all_work(moment, limit=LIMIT_S)
            print(f"{name}: all slots work after {figures[name]:.1f} s")
            _wait_for_report(site)
        for killed, other in (GROUPS, GROUPS[::-1]):
            site.fill()
            slowness = site.slowness()
            _wait_for_report(site)
            moment = site.kill(killed)
            _wait_for_report(site, groups=[other])
            figures[killed] = site.seconds_until_all_work(moment, [killed], limit=LIMIT_S * slowness)
            pause = site.longest_pause(other, moment, moment + figures[killed])
            print(f"kill {killed}: its slots work after {figures[killed]:.1f} s; others paused {pause:.1f} s")
            assert pause < MAX_PAUSE_S
            _wait_for_report(site)
        print(outcome := site.outcome())
        assert {status for status, _code in outcome} <= {"succeeded", "lost"}
        assert outcome["lost", "WORKER_LOST"] <= 4
    finally:
        site.stop()
