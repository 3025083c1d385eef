"""The limits of one run. ``worker.runs.limits.limits_of`` sets them from the skill and the site's settings.

For runs, the defaults here apply only to ``files`` and ``descriptors``.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 300.0
    memory_mb: int = 512
    output_bytes: int = 10_485_760  # stdout and stderr together
    disk_mb: int = 256  # bytes that the run writes below /job and /tmp
    files: int = 4096  # entries below /job
    processes: int = 64
    cpus: int = 0  # maximum number of processors; 0 means all that the worker may use
    descriptors: int = 256
    connections: int = 64  # concurrent connections of a run with network access
    network_bytes: int = 268_435_456  # bytes sent and received together
