"""A worker process for the attack ``arena.lost_worker``: starts a run that lasts until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import open_scratch
from worker.sandbox.policy import Job
from worker.sandbox.run_job import run_in
from worker.sandbox.site_settings import TIERS, SandboxSettings

_SLEEPER = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("up", flush=True)
time.sleep(600)
"""


def main(tier: str, package: str, job_dir: str, mark: str, staging: str, storage: str = "") -> None:
    limits, folder = Limits(timeout_s=600), Path(job_dir)
    scratch = open_scratch(folder.parent, limits, 1 << 40) if storage else None
    job = Job(("python", "-c", _SLEEPER, mark), Path(package), folder, limits=limits, scratch=scratch)
    run_in(
        next(name for name in TIERS if name == tier),
        job,
        site=SandboxSettings(staging=Path(staging)),
        on_output=_print_output,
    )


def _print_output(stream: str, text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
