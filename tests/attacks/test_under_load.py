"""The attacks once more while eight runs keep the machine busy; ATTACK_TIMES=n tries all of them n times."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks.catalogue import EVERY_ATTACK
from tests.attacks.people import TIERS
from worker.sandbox.doctor.attacks import arena as tried
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers

pytestmark = [
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6"),
]

TIMES = int(os.environ.get("ATTACK_TIMES", "0"))
BUSY = "import time\nuntil = time.monotonic() + 0.5\nwhile time.monotonic() < until: sum(range(10_000))"
SITE = SandboxSettings(minimum="landlock")


@pytest.fixture(params=TIERS)
def busy(request, tmp_path):
    """The tier, with eight runs that spin until the test is over."""
    report = next(report for report in usable_tiers() if report.name == request.param)
    if not report.usable:
        pytest.skip(f"{report.name}: {report.reason}")
    over = threading.Event()

    def spin(number):
        package, job_dir = tmp_path / str(number) / "package", tmp_path / str(number) / "job"
        package.mkdir(parents=True)
        (job_dir / "output").mkdir(parents=True)
        while not over.is_set():
            job = Job(("python", "-I", "-S", "-c", BUSY), package, job_dir, limits=Limits(timeout_s=20))
            run(job, tier=request.param, site=SITE)

    with ThreadPoolExecutor(8) as pool:
        for number in range(8):
            pool.submit(spin, number)
        yield request.param
        over.set()


def test_attacks_are_stopped_beside_eight_runs(busy):
    with tried.arena(busy, SITE, EVERY_ATTACK) as opened:
        checks = tried.single_calls(opened)
    for _time in range(TIMES):
        checks += tried.all_attacks(busy, SITE, EVERY_ATTACK)
    assert [check for check in checks if not check.passed] == []
