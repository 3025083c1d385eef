"""Folders as the worker makes them: private above, the package readable within."""

from __future__ import annotations

import pytest

from worker.sandbox import Job, Limits, Site, run, usable_tiers
from worker.sandbox.site import TIERS


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
    """``go("bash", "-c", "…")``: one run in the tier, with the limits and hooks given."""

    def go(*argv, limits=None, site=None, on_output=None, tick=None, grace_s=5.0, **more):
        job = Job(argv, package, job_dir, limits=limits or Limits(timeout_s=20), **more)
        return run(
            job,
            tier=tier,
            site=site or Site(minimum="landlock"),
            on_output=on_output,
            tick=tick,
            grace_s=grace_s,
        )

    return go


@pytest.fixture
def watched():
    """A site without cgroups, as most machines are: the watchdog holds memory."""
    return Site(minimum="landlock", use_cgroups=False)
