"""What a worker was given by its machine goes no further: limits, places, priorities."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.attacks.people import ROOT

pytestmark = [pytest.mark.attack, pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

_FAVOURED = """
import resource, sys, tempfile
from contextlib import suppress
from pathlib import Path
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run
for kind in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
    with suppress(ValueError):  # of a machine that gives them to nobody
        resource.setrlimit(kind, (40, 40))
with suppress(OSError):
    Path("/proc/self/oom_score_adj").write_text("-500")
inner = '''
import os, resource
kinds = (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE, resource.RLIMIT_SIGPENDING)
print([resource.getrlimit(kind)[1] for kind in kinds])
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    print("refused")
try:
    print(open("/proc/self/oom_score_adj").read().strip())
    os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-500")
except PermissionError:
    print("refused")
'''
with tempfile.TemporaryDirectory() as folder:
    package, job_dir = Path(folder, "package"), Path(folder, "job")
    package.mkdir()
    (job_dir / "output").mkdir(parents=True)
    Path(folder).chmod(0o755)
    job = Job(("python", "-I", "-S", "-c", inner), package, job_dir)
    ended = run(job, tier=sys.argv[1], site=SandboxSettings(minimum="landlock"))
    print(ended.stdout.decode(), ended.stderr.decode())
"""


def test_what_favours_the_worker_does_not_favour_its_runs(tier):
    done = subprocess.run(
        [sys.executable, "-c", _FAVOURED, tier], cwd=ROOT, capture_output=True, text=True, check=False
    )
    told = done.stdout.split("\n")
    assert told[:2] == ["[0, 0, 1024]", "refused"], done.stdout + done.stderr
    assert told[2:4] == (["refused", " "] if tier == "landlock" else ["1000", "refused"])
