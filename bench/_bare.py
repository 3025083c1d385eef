"""The bare loops: the same argv, package and policy without queue, records, steps, logs and Django."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from bench import _started
from worker.sandbox.policy import Job, Limits
from worker.sandbox.tiers import available


def serve(pipe, job, var):
    """Runs starts on request, until it receives None."""
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
    for path in (folder, folder / "input", folder / "output"):
        path.mkdir(parents=True)
    ended = available.run(
        Job(
            argv=tuple(job["argv"]),
            package_dir=Path(job["package"]),
            job_dir=folder,
            environment=job["environment"],
            limits=Limits(**job["limits"]),
        )
    )
    shutil.rmtree(folder)
    if ended.exit_code != 0:
        raise SystemExit(f"the bare loop fails: {ended}")
