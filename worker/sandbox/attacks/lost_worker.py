"""A worker for the attack in which it is killed: starts one run that never ends, in the tier it is told."""

from __future__ import annotations

import sys
from pathlib import Path

from worker.sandbox.policy import Job, Limits
from worker.sandbox.running import run_in
from worker.sandbox.site import TIERS, Site

_SLEEPER = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("up", flush=True)
time.sleep(600)
"""


def main(tier: str, package: str, job_dir: str, mark: str, staging: str) -> None:
    job = Job(("python", "-c", _SLEEPER, mark), Path(package), Path(job_dir), limits=Limits(timeout_s=600))
    run_in(
        next(name for name in TIERS if name == tier),
        job,
        site=Site(staging=Path(staging)),
        on_output=_pass_on,
    )


def _pass_on(stream: str, text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
