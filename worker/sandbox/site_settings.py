"""Defines the administrator's settings for sandboxes; ``worker.core.sandbox_settings`` reads their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from worker.sandbox.policy import SandboxResult

Backend = Callable[..., SandboxResult]
"""Runs a job instead of the built-in tiers; called like ``run_job.run_in``, with ``choice`` as ``tier``."""
Tier = Literal["bwrap", "nsrun", "landlock", "unsafe"]
TIERS: tuple[Tier, ...] = ("bwrap", "nsrun", "landlock")  # strongest first


@dataclass(frozen=True)
class SandboxSettings:
    """The administrator's choice of a tier, and the resources for it.

    ``choice="auto"`` selects the strongest usable tier. Tiers weaker than ``minimum`` are refused, except
    ``"unsafe"``, which means no isolation. Only root workers use the folder ``staging`` and the ``uid_count``
    user ids from ``uid_base``, one per run at a time.
    """

    choice: Literal["auto", "bwrap", "nsrun", "landlock", "unsafe"] = "auto"
    minimum: Literal["bwrap", "nsrun", "landlock"] = "nsrun"
    staging: Path = Path("/run/skillquay-sandbox")
    uid_base: int = 47_000
    uid_count: int = 512
    use_cgroups: bool = True
    use_scratch: bool = True
    max_tmpfs_bytes: int = 1 << 30  # the largest scratch space in memory
    min_free_bytes: int = 0  # minimum free space on the worker's disk; 0 means the larger of 1 GiB and 5 %
    require_kernel_limits: bool = False
    backend: Backend | None = None
