"""What the machine's administrator decides about sandboxes; the Django floor fills it from settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from worker.sandbox.policy import Ended

Backend = Callable[..., Ended]
"""Runs a job in place of the tiers, called as ``running.run_in`` is, with ``choice`` for the tier."""
Tier = Literal["bwrap", "nsrun", "landlock", "unsafe"]
TIERS: tuple[Tier, ...] = ("bwrap", "nsrun", "landlock")  # strongest first


@dataclass(frozen=True)
class Site:
    """``choice`` auto takes the strongest usable tier not below ``minimum``; ``unsafe`` is no isolation.

    The staging folder and the pool of user ids (one for each run at a time) serve workers that are root.
    """

    choice: Literal["auto", "bwrap", "nsrun", "landlock", "unsafe"] = "auto"
    minimum: Literal["bwrap", "nsrun", "landlock"] = "nsrun"
    staging: Path = Path("/run/skillquay-sandbox")
    uid_base: int = 47_000
    uid_count: int = 512
    use_cgroups: bool = True
    backend: Backend | None = None
