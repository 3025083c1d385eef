"""Tier ``nsrun``: turns the layout into mount steps for ``inner.nsrun``."""

from dataclasses import asdict
from typing import Any

from worker.sandbox import layout
from worker.sandbox.limits import seccomp
from worker.sandbox.policy import Job

_KINDS = {
    layout.BindMount: "bind",
    layout.Symlink: "link",
    layout.TextFile: "text",
    layout.TmpfsMount: "tmpfs",
    layout.ProcMount: "proc",
    layout.DevMount: "dev",
}


def plan(job: Job, steps: list[layout.LayoutStep]) -> dict[str, Any]:
    return {
        "uid": layout.UID,
        "hostname": "skill",
        "steps": [{"kind": _KINDS[type(step)], **asdict(step)} for step in steps],
        "limits": layout.rlimits(job),
        "cwd": job.cwd,
        "argv": list(job.argv),
        "environment": layout.environment(job),
        "seccomp": seccomp.program(pinned=job.limits.cpus > 0).decode("latin-1"),
    }
