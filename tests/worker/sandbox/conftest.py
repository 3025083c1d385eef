"""The folders that the worker prepares: a private parent with a readable package inside."""

from __future__ import annotations

import pytest

from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import TIERS, SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers


@pytest.fixture(params=TIERS)
def tier(request):
    return usable(request.param)


def usable(tier):
    report = next(report for report in usable_tiers() if report.name == tier)
    if not report.usable:
        pytest.skip(f"{report.name}: {report.reason}")
    return tier


@pytest.fixture
def package(tmp_path):
    private = tmp_path / "var"
    private.mkdir(mode=0o700)
    folder = private / "package"
    folder.mkdir()
    return folder


@pytest.fixture
def job_dir(package):
    folder = package.parent / "job"
    for name in ("input", "output"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def go(tier, package, job_dir):
    """``go("bash", "-c", "…")``: runs a command in the tier with these limits and hooks."""

    def go(*argv, limits=None, site=None, on_output=None, check_stop=None, grace_s=5.0, **more):
        job = Job(argv, package, job_dir, limits=limits or Limits(timeout_s=20), **more)
        return run(
            job,
            tier=tier,
            site=site or SandboxSettings(minimum="landlock"),
            on_output=on_output,
            check_stop=check_stop,
            grace_s=grace_s,
        )

    return go


@pytest.fixture
def watched():
    """Settings of a site without cgroups: the watchdog limits memory."""
    return SandboxSettings(minimum="landlock", use_cgroups=False)
