"""A zero byte ends a word for the kernel and for bubblewrap: no value may go on as an option behind it."""

from __future__ import annotations

import pytest

from tests.attacks.people import TIERS
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers

pytestmark = [
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6"),
]

MOUNT = "a\0--ro-bind\0/\0/host"
LOOK = "import os; print(os.path.exists('/host/etc'))"


@pytest.mark.parametrize(
    ("argv", "environment"),
    [((LOOK,), {"MODE": MOUNT}), ((LOOK,), {MOUNT: "x"}), ((LOOK, MOUNT), {})],
    ids=["value", "name", "argument"],
)
@pytest.mark.parametrize("tier", TIERS)
def test_a_zero_byte_mounts_nothing_and_nothing_starts(tier, argv, environment, tmp_path):
    report = next(report for report in usable_tiers() if report.name == tier)
    if not report.usable:
        pytest.skip(f"{tier}: {report.reason}")
    package, job_dir = tmp_path / "package", tmp_path / "job"
    package.mkdir()
    (job_dir / "output").mkdir(parents=True)
    tmp_path.chmod(0o755)
    job = Job(
        ("python", "-I", "-S", "-c", *argv),
        package,
        job_dir,
        environment=environment,
        limits=Limits(timeout_s=10),
    )
    ended = run(job, tier=tier, site=SandboxSettings(minimum="landlock"))
    assert ended.exit_code != 0
    assert ended.stdout == b""
