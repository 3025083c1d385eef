"""What a run sees as its file system, said once for both tiers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox import doors, egress, runtimes
from worker.sandbox.policy import Job

UID = 65_534  # the run's own name for itself
SHARED_MEMORY_BYTES = 64 << 20
_ETC = ("ssl/certs", "alternatives", "ld.so.cache", "localtime")
_PASSWD = "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
_GROUP = "nogroup:x:65534:\n"
_TOP_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True)
class Bind:
    outside: str
    inside: str
    read_only: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Link:
    to: str
    inside: str


@dataclass(frozen=True)
class Text:
    text: str
    inside: str


@dataclass(frozen=True)
class Tmpfs:
    inside: str
    size: int
    inodes: int


@dataclass(frozen=True)
class Proc:
    inside: str = "/proc"


@dataclass(frozen=True)
class Dev:
    """Null, zero, full, random, urandom, tty, pts, links for the streams; sized shared memory at shm."""

    size: int
    inodes: int
    inside: str = "/dev"


Step = Bind | Link | Text | Tmpfs | Proc | Dev


def steps(job: Job, reach: Callable[[Path], str]) -> list[Step]:
    """The steps in order; ``reach`` gives the place from which a private folder can be bound."""
    limits = job.limits
    placed: list[Step] = [Bind("/usr", "/usr"), *_top_links()]
    placed += [Bind(os.path.realpath(f"/etc/{name}"), f"/etc/{name}", optional=True) for name in _ETC]
    placed += [Text(_PASSWD, "/etc/passwd"), Text(_GROUP, "/etc/group")]
    placed += [
        Text("nameserver 127.0.0.1\n", "/etc/resolv.conf"),
        Text("127.0.0.1 localhost skill\n", "/etc/hosts"),
    ]
    placed += [Proc(), Dev(SHARED_MEMORY_BYTES, limits.files)]
    placed += [Tmpfs("/tmp", limits.disk_mb << 20, limits.files)]
    placed += _runtimes(reach)
    placed += [Bind(reach(job.package_dir), "/skill"), Bind(reach(job.job_dir), "/job", read_only=False)]
    if has_inputs(job):
        placed.append(Bind(reach(job.job_dir) + "/input", "/job/input"))
    placed += [Bind(reach(outside), inside) for inside, outside in job.mounts.items()]
    return placed


def has_inputs(job: Job) -> bool:
    """A folder, and no link that an earlier start in the same folder left in its place."""
    folder = job.job_dir / "input"
    return folder.is_dir() and not folder.is_symlink()


def private_folders(job: Job) -> list[Path]:
    """What a worker that is root must stage, since the run's own uid may not reach it."""
    needed = [runtime.prefix or runtime.program for runtime in _bound()]
    return list(dict.fromkeys([*needed, job.package_dir, job.job_dir, *job.mounts.values()]))


def environment(job: Job) -> dict[str, str]:
    base = {
        "PATH": runtimes.PATH,
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "DENO_DIR": "/tmp/.deno",
        "DENO_NO_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
    }
    proxy = {} if job.network is None else egress.ENVIRONMENT
    door = doors.ENVIRONMENT if job.door else {}
    return base | dict(job.environment) | proxy | door


def rlimits(job: Job) -> dict[str, int]:
    limits = job.limits
    return {
        "core": 0,
        "file_bytes": limits.disk_mb << 20,
        "descriptors": limits.descriptors,
        "processes": limits.processes,
    }


def _top_links() -> list[Step]:
    """``/bin`` and its like: links where the system has merged them into /usr, else folders."""
    placed: list[Step] = []
    for name in _TOP_LINKS:
        top = Path("/", name)
        if top.is_symlink():
            placed.append(Link(os.readlink(top), str(top)))
        elif top.is_dir():
            placed.append(Bind(str(top), str(top)))
    return placed


def _bound() -> list[runtimes.Runtime]:
    return [runtime for runtime in runtimes.installed().values() if not runtime.in_usr]


def _runtimes(reach: Callable[[Path], str]) -> list[Step]:
    placed: list[Step] = []
    for runtime in runtimes.installed().values():
        inside = f"{runtimes.FOLDER}/bin/{runtime.name}"
        if runtime.in_usr or runtime.prefix:
            placed.append(Link(str(runtime.program), inside))
        else:
            placed.append(Bind(reach(runtime.program), inside))
        if runtime.prefix and not runtime.in_usr:
            placed.append(Bind(reach(runtime.prefix), str(runtime.prefix)))
    placed.append(Link("python", f"{runtimes.FOLDER}/bin/python3"))
    return placed
