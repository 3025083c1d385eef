"""Names the mechanism that enforces each limit of a run, such as a cgroup or checks by the worker."""

from __future__ import annotations

from collections.abc import Mapping

from worker.sandbox.limits import cgroup
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings, Tier

WATCHDOG = "watchdog"
KERNEL = frozenset({"affinity", "cgroup", "loop device", "namespace", "rlimit", "seccomp", "tmpfs"})
CHECK_INTERVALS_MS: Mapping[str, int] = {"memory": 50, "disk": 100, "files": 100}
_NETWORK: Mapping[Tier, str] = {
    "bwrap": "namespace",
    "nsrun": "namespace",
    "landlock": "seccomp",
    "unsafe": "none",
}


def enforcement(tier: Tier, job: Job, grouped: frozenset[str]) -> dict[str, str]:
    """Maps each limit to its mechanism; ``grouped`` are the controllers of the run's cgroup.

    A memory cgroup limits the processes' memory and the scratch space's tmpfs together. Within this limit,
    the worker checks the processes' memory alone.
    """
    pinned = "affinity" if job.limits.cpus else "time limit"
    storage = job.scratch.kind if job.scratch else WATCHDOG
    return {
        "memory": "cgroup" if "memory" in grouped else WATCHDOG,
        "processes": "cgroup" if "pids" in grouped else "none" if tier == "unsafe" else "rlimit",
        "disk": storage,
        "files": storage,
        "descriptors": "rlimit",
        "cpu": "cgroup" if "cpu" in grouped else pinned,
        "network": "proxy" if job.network is not None and tier != "unsafe" else _NETWORK[tier],
    }


def planned_enforcement(tier: Tier, job: Job, site: SandboxSettings) -> dict[str, str]:
    """Maps each limit to the mechanism expected for a job that has not started."""
    parents = cgroup.find_parents() if site.use_cgroups else ()
    controllers = frozenset[str]().union(*(parent.controllers for parent in parents))
    unused = frozenset[str]() if job.limits.cpus else {"cpu"}  # ``create_cgroup`` then sets no limit
    return enforcement(tier, job, controllers - unused)
