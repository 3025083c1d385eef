"""How a worker would run scripts: its isolation tier, and what enforces each limit there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.packages.problems import Refusal
from worker.core.sandbox_settings import sandbox_settings
from worker.sandbox.limits.cgroup import find_parents
from worker.sandbox.policy import Job
from worker.sandbox.run_job import enforcement
from worker.sandbox.tiers import available


def sandbox_report() -> dict[str, Any]:
    """``{tier, enforcement}``; ``reason`` instead of a tier if runs are refused."""
    site = sandbox_settings()
    if site.backend:
        return {"tier": "backend", "enforcement": {}}
    try:
        tier = available.choose(site)
    except Refusal as refused:
        problem = refused.problems[0]
        return {"tier": "", "enforcement": {}, "reason": f"{problem.message()} {problem.remedy()}"}
    folder = Path("/")
    controllers = frozenset(name for parent in find_parents() for name in parent.controllers)
    return {"tier": tier, "enforcement": enforcement(tier, Job(("true",), folder, folder), controllers)}
