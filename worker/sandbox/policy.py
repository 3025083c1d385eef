"""Frozen values of the sandbox: a job, what it may access, and its result. Imports no Django."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch

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
class HostAccess:
    """A host that a run tried to reach; ``code`` is an error code of ``worker.sandbox.errors`` if refused."""

    host: str
    port: int
    allowed: bool
    code: str = ""
    count: int = 1


Resolve = Callable[[str, int], Sequence[str]]
"""Returns the permitted addresses of a host, resolved once; raises the refusals of ``http_client.fetch``."""

RequestHandler = Callable[[bytes], bytes]
"""Returns the answer to one request of the script; both are JSON on one line. Called in its own thread."""


@dataclass(frozen=True)
class HttpReply:
    """The response to a GET request; cut off if ``body`` raises. ``length`` is None if unknown."""

    status: int
    body: Iterator[bytes] = field(default_factory=lambda: iter(()))
    content_type: str = "text/plain"
    length: int | None = None


HttpHandler = Callable[[str], HttpReply]
"""Returns the response to a GET request for a path. Called in several threads."""


@dataclass(frozen=True)
class Job:
    """One start of a script. Folders are host paths; paths in ``argv`` are paths inside the sandbox.

    Inside, the package is read-only at /skill; ``job_dir`` is at /job, with input/ read-only and output/.
    The caller creates both folders. The package must be world-readable, because a root worker runs the
    script as another user. The same applies to ``mounts``, which maps paths inside (not below /skill or
    /job) to host files and folders that are mounted read-only.
    ``network`` lists the hosts that the run's proxy allows, at the addresses that ``resolve`` returns. An
    empty list refuses and records every host; None means no network at all. With ``http_handler`` the proxy
    connects to no host: the handler answers what the script requests from http://127.0.0.1:3128.
    ``request_handler`` answers the script's requests on descriptors 4 and 5.
    ``channel_bytes`` > 0 opens descriptor 3; ``SandboxResult.channel`` is the data written to it.
    With ``scratch``, ``job_dir`` is the folder ``job`` in ``scratch.folder``; it is copied into the space
    at the first start, and everything that the run writes stays in the space.
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
    http_handler: HttpHandler | None = None
    mounts: Mapping[str, Path] = field(default_factory=dict)
    request_handler: RequestHandler | None = None
    limits: Limits = field(default_factory=Limits)
    scratch: Scratch | None = None


@dataclass(frozen=True)
class SandboxResult:
    """How a start ended. ``exit_code`` is None if a signal ended the script; durations are in seconds."""

    ending: Ending
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    channel: bytes
    duration_s: float
    tier: str  # bwrap | nsrun | landlock | unsafe
    enforcement: Mapping[str, str]  # memory, processes, disk, cpu … → cgroup | watchdog | rlimit …
    detail: str = ""
    network: tuple[HostAccess, ...] = ()
    cpu_s: float = 0.0  # of all processes of the run


OnOutput = Callable[[Stream, bytes], None]
CheckStop = Callable[[], StopReason | None]
