"""Tier ``unsafe``: runs scripts without isolation, only by an explicit setting; uses host paths."""

from typing import Any

from worker.sandbox import layout, runtimes
from worker.sandbox.policy import Job


def plan(job: Job) -> dict[str, Any]:
    environment = layout.environment(job)
    folders = [str(runtime.program.parent) for runtime in runtimes.installed().values()]
    environment["PATH"] = ":".join([*folders, "/usr/local/bin:/usr/bin:/bin"])
    return {
        "argv": [_program(job.argv[0]), *(host_path(job, part) for part in job.argv[1:])],
        "environment": {name: host_path(job, value) for name, value in environment.items()},
        "cwd": host_path(job, job.cwd),
        # All runs share a user, so a process limit would also count the processes of other runs.
        "limits": {name: value for name, value in layout.rlimits(job).items() if name != "processes"},
    }


def _program(name: str) -> str:
    runtime = runtimes.installed().get({"python3": "python"}.get(name, name))
    return str(runtime.program) if runtime else name


def host_path(job: Job, text: str) -> str:
    for inside, outside in {"/skill": job.package_dir, "/job": job.job_dir, **job.mounts}.items():
        if text == inside or text.startswith(inside + "/"):
            return str(outside) + text[len(inside) :]
    return text
