"""The file system, environment and resource limits of a run; each tier builds its plan from them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox import channel_server, runtimes
from worker.sandbox.egress import proxy as egress
from worker.sandbox.limits.scratch import SHM, TMP
from worker.sandbox.policy import Job

UID = 65_534  # the user id inside the sandbox
PACKAGE = "/skill"
WORK = "work"  # folder in the job folder; every tier resolves its links into the package
SHARED_MEMORY_BYTES = 64 << 20
_ETC = ("ssl/certs", "alternatives", "fonts", "ld.so.cache", "libreoffice", "localtime")
_PASSWD = "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
_GROUP = "nogroup:x:65534:\n"
_TOP_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True)
class BindMount:
    outside: str
    inside: str
    read_only: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Symlink:
    to: str
    inside: str


@dataclass(frozen=True)
class TextFile:
    text: str
    inside: str


@dataclass(frozen=True)
class TmpfsMount:
    inside: str
    size: int
    inodes: int


@dataclass(frozen=True)
class ProcMount:
    inside: str = "/proc"


@dataclass(frozen=True)
class DevMount:
    """/dev with null, zero, full, random, urandom, tty, pts and links for the streams.

    ``shared`` is the host folder shown as /dev/shm; if it is "", /dev/shm is a tmpfs of ``size`` bytes.
    """

    size: int
    inodes: int
    shared: str = ""
    inside: str = "/dev"


LayoutStep = BindMount | Symlink | TextFile | TmpfsMount | ProcMount | DevMount


def layout_steps(job: Job, host_path: Callable[[Path], str]) -> list[LayoutStep]:
    """The steps that build the sandbox's file system, in order.

    ``host_path`` maps a host path to the path at which the run's user can access it.
    """
    limits = job.limits
    mounts: list[LayoutStep] = [BindMount("/usr", "/usr"), *_top_links()]
    mounts += [BindMount(os.path.realpath(f"/etc/{name}"), f"/etc/{name}", optional=True) for name in _ETC]
    mounts += [TextFile(_PASSWD, "/etc/passwd"), TextFile(_GROUP, "/etc/group")]
    mounts += [
        TextFile("nameserver 127.0.0.1\n", "/etc/resolv.conf"),
        TextFile("127.0.0.1 localhost skill\n", "/etc/hosts"),
    ]
    scratch = job.scratch
    shared = host_path(scratch.folder / SHM) if scratch else ""
    mounts += [ProcMount(), DevMount(SHARED_MEMORY_BYTES, limits.files, shared)]
    if scratch:
        mounts.append(BindMount(host_path(scratch.folder / TMP), "/tmp", read_only=False))
    else:
        mounts.append(TmpfsMount("/tmp", limits.disk_mb << 20, limits.files))
    mounts += _runtime_mounts(host_path)
    mounts += [
        BindMount(host_path(job.package_dir), "/skill"),
        BindMount(host_path(job.job_dir), "/job", read_only=False),
    ]
    if has_inputs(job):
        mounts.append(BindMount(host_path(job.job_dir) + "/input", "/job/input"))
    mounts += [BindMount(host_path(outside), inside) for inside, outside in job.mounts.items()]
    return mounts


def has_inputs(job: Job) -> bool:
    """Whether the job has an input folder; False for a link, which an earlier start may have created."""
    folder = job.job_dir / "input"
    return folder.is_dir() and not folder.is_symlink()


def translate_links(job: Job, to_host: Callable[[str], str]) -> None:
    """Changes the working folder's links into the package to host paths, for tiers in which the script sees
    host paths.
    """
    folder = job.job_dir / WORK
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in os.scandir(folder):
        if entry.is_symlink() and (target := os.readlink(entry.path)).startswith(f"{PACKAGE}/"):
            os.unlink(entry.path)
            os.symlink(to_host(target), entry.path)


def private_folders(job: Job) -> list[Path]:
    """Distinct paths that a root worker must stage, because the run's user may not be able to access them."""
    needed = [runtime.prefix or runtime.program for runtime in _bound_runtimes()]
    own = [job.scratch.folder / name for name in (TMP, SHM)] if job.scratch else []
    return list(dict.fromkeys([*needed, job.package_dir, job.job_dir, *own, *job.mounts.values()]))


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
        "GIT_CONFIG_NOSYSTEM": "1",  # git ends if it can't read /etc/gitconfig, as in tier landlock
    }
    proxy = {} if job.network is None else egress.ENVIRONMENT
    channel = channel_server.ENVIRONMENT if job.request_handler else {}
    return base | dict(job.environment) | proxy | channel


def rlimits(job: Job) -> dict[str, int]:
    limits = job.limits
    return {
        "core": 0,
        "file_bytes": limits.disk_mb << 20,
        "descriptors": limits.descriptors,
        "processes": limits.processes,
    }


def _top_links() -> list[LayoutStep]:
    """Steps for ``/bin`` and similar paths: links on a host with merged /usr, otherwise read-only mounts."""
    mounts: list[LayoutStep] = []
    for name in _TOP_LINKS:
        top = Path("/", name)
        if top.is_symlink():
            mounts.append(Symlink(os.readlink(top), str(top)))
        elif top.is_dir():
            mounts.append(BindMount(str(top), str(top)))
    return mounts


def _bound_runtimes() -> list[runtimes.Runtime]:
    return [runtime for runtime in runtimes.installed().values() if not runtime.in_usr]


def _runtime_mounts(host_path: Callable[[Path], str]) -> list[LayoutStep]:
    mounts: list[LayoutStep] = []
    for runtime in runtimes.installed().values():
        inside = f"{runtimes.FOLDER}/bin/{runtime.name}"
        if runtime.in_usr or runtime.prefix:
            mounts.append(Symlink(str(runtime.program), inside))
        else:
            mounts.append(BindMount(host_path(runtime.program), inside))
        if runtime.prefix and not runtime.in_usr:
            mounts.append(BindMount(host_path(runtime.prefix), str(runtime.prefix)))
    mounts.append(Symlink("python", f"{runtimes.FOLDER}/bin/python3"))
    environment_file = f"{runtimes.FOLDER}/{runtimes.ENVIRONMENT_FILE}"
    mounts.append(
        TextFile(runtimes.empty_environment(runtimes.require("python").program.parent), environment_file)
    )
    return mounts
