"""Bare loops for comparison, which start the measured script without queue, records, steps and Django."""

from __future__ import annotations

import secrets
import shutil
from contextlib import closing
from pathlib import Path

from bench import _started
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch
from worker.sandbox.policy import Job
from worker.sandbox.tiers import available


def serve(pipe, job, var):
    """Receives pairs of kind and count; starts the script ``count`` times, then sends ``count``. Ends at
    None.
    """
    kinds = {"bare_subprocess": _subprocess, "bare_bwrapped": _bwrapped, "bare_sandboxed": _sandboxed}
    while message := pipe.recv():
        kind, count = message
        for _ in range(count):
            kinds[kind](job, var)
        pipe.send(count)


def _subprocess(job, var):
    _started.plain(job["file"])


def _bwrapped(job, var):
    _started.bwrapped(job["file"])


def _sandboxed(job, var):
    folder = Path(var, "jobs", secrets.token_hex(8))
    for path in (folder / "job", folder / "job" / "input", folder / "job" / "output"):
        path.mkdir(parents=True)
    limits = Limits(**job["limits"])
    with closing(Scratch(folder, limits.disk_mb << 20, limits.files)) as scratch:
        ended = available.run(
            Job(
                argv=tuple(job["argv"]),
                package_dir=Path(job["package"]),
                job_dir=folder / "job",
                environment=job["environment"],
                limits=limits,
                scratch=scratch,
            )
        )
    shutil.rmtree(folder)
    if ended.exit_code != 0:
        raise SystemExit(f"the bare loop fails: {ended}")
