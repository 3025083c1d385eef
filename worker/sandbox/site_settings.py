"""The administrator's settings for sandboxes; the Django part of the worker fills them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from worker.sandbox.policy import SandboxResult

Backend = Callable[..., SandboxResult]
"""Runs a job instead of the built-in tiers; called like ``run_job.run_in``, with ``choice`` as the tier."""
Tier = Literal["bwrap", "nsrun", "landlock", "unsafe"]
TIERS: tuple[Tier, ...] = ("bwrap", "nsrun", "landlock")  # strongest first


@dataclass(frozen=True)
class SandboxSettings:
    """Which tier to use, and the resources that a root worker needs for it.

    ``choice="auto"`` takes the strongest usable tier that is not weaker than ``minimum``; ``"unsafe"`` means
    no isolation. Only root workers use ``staging`` and the pool of user ids (one per run at a time).
    """

    choice: Literal["auto", "bwrap", "nsrun", "landlock", "unsafe"] = "auto"
    minimum: Literal["bwrap", "nsrun", "landlock"] = "nsrun"
    staging: Path = Path("/run/skillquay-sandbox")
    uid_base: int = 47_000
    uid_count: int = 512
    use_cgroups: bool = True
    use_scratch: bool = True
    max_tmpfs_bytes: int = 1 << 30  # the largest scratch space in memory
    min_free_bytes: int = 0  # on the worker's disk; 0 means the larger of 1 GiB and 5 %
    require_kernel_limits: bool = False
    backend: Backend | None = None
