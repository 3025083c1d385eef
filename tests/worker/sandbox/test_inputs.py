"""Input files beside a run: it reads them, and they are no part of what it may write."""

from __future__ import annotations

import pytest

from worker.sandbox.limits.limits import Limits

pytestmark = [pytest.mark.row("P10", "B4"), pytest.mark.matrix("tier", at_most=1)]
LIMITS = Limits(timeout_s=20, disk_mb=2, files=8)


@pytest.fixture
def inputs(job_dir):
    for number in range(12):
        (job_dir / "input" / f"{number}.bin").write_bytes(b"x" * 2**20)


def test_what_a_run_is_given_counts_for_nothing(go, inputs):
    ended = go("bash", "-c", "sleep 0.5; cat input/* | wc -c", limits=LIMITS)
    assert (ended.ending, ended.stdout.strip()) == ("exited", b"%d" % (12 * 2**20))


@pytest.mark.parametrize(
    "writing", ["head -c 1800000 /dev/zero | tee output/a > output/b", "touch output/{1..20}"]
)
def test_what_it_writes_beside_them_is_held(go, inputs, writing):
    ended = go("bash", "-c", f"{writing}; sleep 20", limits=LIMITS)
    assert ended.ending == "disk_limit", ended
