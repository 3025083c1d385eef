"""Value types of the sandbox, without Django: a job, the hosts that it tried to reach, and its result."""

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
    """A decision of the run's proxy about a host and port; ``count`` is how often the proxy made it.

    If the host was refused or could not be connected to, ``allowed`` is False and ``code`` is an error code
    of ``worker.sandbox.errors``. ``host`` is "" for an invalid request. It is "*" if a limit of the run was
    exceeded, and for all further decisions after 200 different ones.
    """

    host: str
    port: int
    allowed: bool
    code: str = ""
    count: int = 1


Resolve = Callable[[str, int], Sequence[str]]
"""Returns the permitted addresses of a host and port.

Raises OUTBOUND_FAILED if the host can't be resolved, and another refusal if no address is permitted.
"""

RequestHandler = Callable[[bytes], bytes]
"""Returns the answer to one request of the script; both are one JSON line. Called in the channel's thread."""


@dataclass(frozen=True)
class HttpReply:
    """The response to a GET or HEAD request. ``length`` is the size of the body in bytes, None if unknown.

    If ``body`` raises Refusal, the connection is aborted.
    """

    status: int
    body: Iterator[bytes] = field(default_factory=lambda: iter(()))
    content_type: str = "text/plain"
    length: int | None = None


HttpHandler = Callable[[str], HttpReply]
"""Returns the response to a GET or HEAD request for a path; a Refusal becomes status 502.

Called in several threads.
"""


@dataclass(frozen=True)
class Job:
    """One start of a script. Folders are host paths; paths in ``argv`` are paths inside the sandbox.

    The caller creates all folders. Inside, the package is read-only at /skill. ``job_dir`` is at /job, with
    the optional subfolder input, which is read-only, and output for the script's files. The package must be
    world-readable, because a root worker runs the script as another user. The same applies to ``mounts``,
    which maps paths inside to host files and folders that are mounted read-only. Its paths must not be below
    /skill or /job.

    ``network`` lists the hosts that the run's proxy allows, at the addresses that ``resolve`` returns. An
    empty list refuses and records every host; None means no network at all. If ``network`` is not None,
    ``http_handler`` can answer the script's requests to http://127.0.0.1:3128; the proxy then connects to
    hosts only for CONNECT.

    ``request_handler`` answers the requests that the script writes to descriptor 4; the script reads the
    answers from descriptor 5. If ``channel_bytes`` is above 0, the script can write that many bytes to
    descriptor 3; they become ``SandboxResult.channel``.

    With ``scratch``, ``job_dir`` is the folder ``job`` in ``scratch.folder``. The first start copies its
    files into the space, except the inputs; everything that the run writes stays in the space.
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
    """The result of one start: how it ended, its output and the resources used. Durations are in seconds.

    ``exit_code`` and ``signal`` are both None if the script could not start; otherwise, exactly one is None.
    ``detail`` explains ``ending`` if more is known, otherwise it is "".
    """

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
    cpu_s: float = 0.0  # CPU time of all processes of the run
    peak_memory: int = 0  # most resident bytes of its largest process; 0 if unknown


OnOutput = Callable[[Stream, bytes], None]
CheckStop = Callable[[], StopReason | None]
