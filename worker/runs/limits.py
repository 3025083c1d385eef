"""The limits of a run, from the skill and the site's settings."""

from django.conf import settings

from registry.packages.package import Manifest
from worker.sandbox.limits.limits import Limits


def limits_of(manifest: Manifest) -> Limits:
    """The site's limits, with the skill's time and memory where those are smaller.

    A skill without a time limit gets SKILLQUAY_DEFAULT_RUN_SECONDS.
    """
    security = manifest.security
    default_ms = settings.SKILLQUAY_DEFAULT_RUN_SECONDS * 1000
    timeout_ms = security.timeout_ms if security.timeout_ms is not None else default_ms
    memory_mb = security.memory_mb if security.memory_mb is not None else settings.SKILLQUAY_MAX_RUN_MEMORY_MB
    return Limits(
        timeout_s=min(timeout_ms / 1000, settings.SKILLQUAY_MAX_RUN_SECONDS),
        memory_mb=min(memory_mb, settings.SKILLQUAY_MAX_RUN_MEMORY_MB),
        output_bytes=settings.SKILLQUAY_MAX_RUN_OUTPUT_BYTES,
        disk_mb=settings.SKILLQUAY_MAX_RUN_DISK_MB,
        processes=settings.SKILLQUAY_MAX_RUN_PROCESSES,
        cpus=settings.SKILLQUAY_MAX_RUN_CPUS,
        connections=settings.SKILLQUAY_MAX_RUN_CONNECTIONS,
        network_bytes=settings.SKILLQUAY_MAX_RUN_NETWORK_BYTES,
    )
