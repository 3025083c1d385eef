"""Tier B: the layout as the launcher's own steps (see ``inner.nsrun``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from worker.sandbox import layout, seccomp
from worker.sandbox.policy import Job

_KINDS = {
    layout.Bind: "bind",
    layout.Link: "link",
    layout.Text: "text",
    layout.Tmpfs: "tmpfs",
    layout.Proc: "proc",
    layout.Dev: "dev",
}


def plan(job: Job, steps: list[layout.Step]) -> dict[str, Any]:
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
