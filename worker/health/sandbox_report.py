"""Reports how a worker runs scripts: its isolation tier, and the mechanism that enforces each limit."""

from __future__ import annotations

from typing import Any

from registry.packages.problems import Refusal
from worker.core.sandbox_settings import sandbox_settings
from worker.sandbox.tiers import available


def sandbox_report() -> dict[str, Any]:
    """The document ``{tier, enforcement}`` of this machine.

    If runs are refused, the tier is "" and ``reason`` explains it. If the site sets a backend, the tier is
    ``backend`` and ``enforcement`` is empty.
    """
    site = sandbox_settings()
    if site.backend:
        return {"tier": "backend", "enforcement": {}}
    try:
        tier = available.choose(site)
    except Refusal as refused:
        problem = refused.problems[0]
        return {"tier": "", "enforcement": {}, "reason": f"{problem.message()} {problem.remedy()}"}
    return {"tier": tier, "enforcement": available.default_enforcement(tier, site)}
