"""The site's sandbox settings as the value that ``worker.sandbox`` takes."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from worker.sandbox.site_settings import Backend, SandboxSettings


def sandbox_settings() -> SandboxSettings:
    """The administrator's sandbox settings."""
    choice: Any = settings.SKILLQUAY_SANDBOX  # both are checked when settings are read
    minimum: Any = settings.SKILLQUAY_SANDBOX_MINIMUM
    return SandboxSettings(
        choice=choice, minimum=minimum, backend=_backend(settings.SKILLQUAY_SANDBOX_BACKEND)
    )


@cache
def _backend(path: str) -> Backend | None:
    backend: Backend | None = import_string(path) if path else None
    return backend
