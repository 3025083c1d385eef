"""Another backend in place of the tiers: the example of docs/operations.md, run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worker.sandbox import Ended, Job, Limits, Site, run, usable_tiers
from worker.sandbox.running import run_in
from worker.ways import script

pytestmark = pytest.mark.row("C6")


def frugal(tier, job, *, on_output=None, tick=None, site=None, grace_s=5.0) -> Ended:
    """Runs in the strongest tier of this machine, with half of the memory."""
    halved = replace(job, limits=replace(job.limits, memory_mb=job.limits.memory_mb // 2))
    chosen = next(report.name for report in usable_tiers(site) if report.usable)
    ended = run_in(chosen, halved, on_output=on_output, tick=tick, site=site, grace_s=grace_s)
    return replace(ended, enforcement={**ended.enforcement, "by": "frugal"})


@pytest.fixture(autouse=True)
def _some_tier():
    if not any(report.usable for report in usable_tiers()):
        pytest.skip("no tier works on this machine")


def test_a_backend_runs_in_place_of_the_tiers_and_is_named_on_the_run(package, job_dir):
    site = Site(backend=frugal)
    ended = run(Job(("echo", "out"), package, job_dir, limits=Limits(timeout_s=20)), site=site)
    assert (ended.stdout, ended.tier, ended.enforcement["by"]) == (b"out\n", "backend", "frugal")


def test_the_setting_names_it(settings):
    settings.SKILLQUAY_SANDBOX_BACKEND = f"{__name__}.frugal"
    found = script.site().backend
    assert (found.__name__, found.__module__) == ("frugal", __name__)
