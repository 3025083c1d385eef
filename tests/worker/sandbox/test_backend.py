"""Another backend in place of the tiers: the example of docs/howto/use-another-sandbox-backend.md, run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks import not_none
from worker.core import sandbox_settings
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job, SandboxResult
from worker.sandbox.run_job import run_in
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]


def frugal(tier, job, *, on_output=None, check_stop=None, site=None, grace_s=5.0) -> SandboxResult:
    """Runs in the strongest tier of this machine, with half of the memory."""
    halved = replace(job, limits=replace(job.limits, memory_mb=job.limits.memory_mb // 2))
    chosen = next(report.name for report in usable_tiers(site) if report.usable)
    ended = run_in(chosen, halved, on_output=on_output, check_stop=check_stop, site=site, grace_s=grace_s)
    return replace(ended, enforcement={**ended.enforcement, "by": "frugal"})


@pytest.fixture(autouse=True)
def _some_tier():
    if not any(report.usable for report in usable_tiers()):
        pytest.skip("no tier works on this machine")


def test_a_backend_runs_in_place_of_the_tiers_and_is_named_on_the_run(package, job_dir):
    site = SandboxSettings(backend=frugal)
    ended = run(Job(("echo", "out"), package, job_dir, limits=Limits(timeout_s=20)), site=site)
    assert (ended.stdout, ended.tier, ended.enforcement["by"]) == (b"out\n", "backend", "frugal")


def test_the_setting_names_it(settings):
    settings.SKILLQUAY_SANDBOX_BACKEND = f"{__name__}.frugal"
    found = sandbox_settings.sandbox_settings().backend
    assert (not_none(found).__name__, found.__module__) == ("frugal", __name__)
