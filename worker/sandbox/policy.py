"""What a run may do and what came of it: the sandbox's frozen values. No Django."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Stream = Literal["stdout", "stderr"]
Ending = Literal[
    "exited",
    "timed_out",
    "output_limit",
    "memory_limit",
    "disk_limit",
    "cancelled",
    "lease_lost",
    "start_failed",
]
StopReason = Literal["cancelled", "lease_lost"]


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 300.0
    memory_mb: int = 512
    output_bytes: int = 10_485_760  # stdout and stderr together
    disk_mb: int = 256  # everything the run writes below /job and /tmp
    files: int = 4096  # entries below /job
    processes: int = 64
    cpus: int = 0  # processors at most; 0 is all that the worker may use
    descriptors: int = 256
    connections: int = 64  # at one time, of a run that may reach hosts
    network_bytes: int = 268_435_456  # both ways together


@dataclass(frozen=True)
class Dial:
    """One host that a run asked for; ``why`` is a code of ``worker.sandbox.codes`` where it was refused."""

    host: str
    port: int
    allowed: bool
    why: str = ""
    count: int = 1


Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host that may be dialled, resolved once; refuses as ``registry.outbound`` does."""

Door = Callable[[bytes], bytes]
"""Answers one request of the script's, both JSON documents of one line; called in a thread of its own."""


@dataclass(frozen=True)
class Reply:
    """What is answered to a GET; a ``body`` that raises is cut off. ``length`` where it is known."""

    status: int
    body: Iterator[bytes] = field(default_factory=lambda: iter(()))
    content_type: str = "text/plain"
    length: int | None = None


Served = Callable[[str], Reply]
"""The answer to one GET for this path; called in threads of its own."""


@dataclass(frozen=True)
class Job:
    """One start of a script. Host folders are the caller's; paths in ``argv`` are those inside the sandbox.

    Inside: the package read-only at /skill, ``job_dir`` at /job (with input/ read-only and output/). The
    caller makes both, the package readable to all, since a worker that is root runs it as another user.
    ``network`` are the hosts that its proxy lets through (an empty list refuses and records every one), at
    addresses that ``resolve`` gives; None is no network at all. With ``served`` its way out dials nobody:
    what the script gets from http://127.0.0.1:3128 this callable answers. ``mounts`` shows host folders and
    files read-only, by their paths inside, which lie outside /skill and /job; a worker that is root needs
    them readable to all. ``door`` answers what the script asks of the worker.
    ``channel_bytes`` > 0 opens descriptor 3 for writing; what is written comes back as ``Ended.channel``.
    """

    argv: tuple[str, ...]
    package_dir: Path
    job_dir: Path
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/job"
    channel_bytes: int = 0
    network: tuple[str, ...] | None = None
    resolve: Resolve | None = None
    served: Served | None = None
    mounts: Mapping[str, Path] = field(default_factory=dict)
    door: Door | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Ended:
    """How a start ended. ``exit_code`` is None where a signal ended it; durations in seconds."""

    ending: Ending
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    channel: bytes
    duration_s: float
    tier: str  # bwrap | nsrun | landlock | unsafe
    enforcement: Mapping[str, str]  # what held memory, processes, disk, cpu …: cgroup | watchdog | rlimit
    detail: str = ""
    network: tuple[Dial, ...] = ()
    cpu_s: float = 0.0  # of all its processes together


OnOutput = Callable[[Stream, bytes], None]
Tick = Callable[[], StopReason | None]
