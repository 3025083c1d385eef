"""The site's sandbox settings as the value that ``worker.sandbox`` expects."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from worker.sandbox.limits.cgroup import usable_memory
from worker.sandbox.site_settings import Backend, SandboxSettings


def sandbox_settings() -> SandboxSettings:
    """The site's sandbox settings. All slots together can use a quarter of the memory for tmpfs."""
    choice: Any = settings.SKILLQUAY_SANDBOX  # Django's settings have validated both
    minimum: Any = settings.SKILLQUAY_SANDBOX_MINIMUM
    return SandboxSettings(
        choice=choice,
        minimum=minimum,
        backend=_backend(settings.SKILLQUAY_SANDBOX_BACKEND),
        max_tmpfs_bytes=usable_memory() // 4 // settings.SKILLQUAY_WORKERS,
        min_free_bytes=settings.SKILLQUAY_MIN_FREE_MB << 20,
        require_kernel_limits=settings.SKILLQUAY_SANDBOX_KERNEL_LIMITS,
    )


def jobs_folder() -> Path:
    """The parent of all job folders. If it is on a separate disk, runs can't fill the portal's disk."""
    return Path(settings.SKILLQUAY_JOBS or Path(settings.SKILLQUAY_VAR) / "jobs")


@cache
def _backend(path: str) -> Backend | None:
    backend: Backend | None = import_string(path) if path else None
    return backend
