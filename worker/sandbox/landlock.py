"""Tier C: no namespace, so no names of its own: what others see at /job lies where it lies on the host."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import layout, runtimes, seccomp
from worker.sandbox.clearing import clear
from worker.sandbox.policy import Ended, Job, OnOutput, Stream

Reach = Callable[[Path], str]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("ssl/certs", "ssl/openssl.cnf", "alternatives", "ld.so.cache", "localtime"),
    *("debian_version", "os-release", "lsb-release"),  # pip stops where it may not read what it is on
)
_LOOK = (
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_TMP, _NAMES = "tmp", ".runtimes"  # below the job's folder


@dataclass(frozen=True)
class Names:
    """Names as the other tiers have them, beside those of the host."""

    places: Mapping[str, str]

    @classmethod
    def of(cls, job: Job, reach: Reach) -> Names:
        folder = reach(job.job_dir)
        own = {"/skill": reach(job.package_dir), "/tmp": f"{folder}/{_TMP}", "/job": folder}
        return cls(own | {inside: reach(outside) for inside, outside in job.mounts.items()})

    def outward(self, text: str) -> str:
        """Where a word is a path inside, or ``name=path``: the path on the host."""
        return self._pattern("(^|=)", "(?=/|$)").sub(lambda match: match[1] + self.places[match[2]], text)

    def outward_json(self, text: bytes) -> bytes:
        """The same for each string of a JSON document."""
        pattern = self._pattern('(")', '(?=[/"])').pattern.encode()
        places = {inside.encode(): outside.encode() for inside, outside in self.places.items()}
        return re.sub(pattern, lambda match: match[1] + places[match[2]], text)

    def inward(self, text: bytes) -> bytes:
        """What the run says of its files, by the names that its caller knows."""
        for inside, outside in self.places.items():
            text = text.replace(outside.encode(), inside.encode())
        return text

    def _pattern(self, before: str, after: str) -> re.Pattern[str]:
        return re.compile(f"{before}({'|'.join(map(re.escape, self.places))}){after}")


def translated(job: Job, names: Names) -> Job:
    """The job with host names wherever it names a path."""
    return replace(
        job,
        argv=tuple(names.outward(word) for word in job.argv),
        stdin=names.outward_json(job.stdin),
        cwd=names.outward(job.cwd),
    )


def answered(ended: Ended, names: Names) -> Ended:
    said = {stream: names.inward(getattr(ended, stream)) for stream in ("stdout", "stderr", "channel")}
    return replace(ended, stdout=said["stdout"], stderr=said["stderr"], channel=said["channel"])


def listener(on_output: OnOutput | None, names: Names) -> OnOutput | None:
    def listen(stream: Stream, text: bytes) -> None:
        if on_output:
            on_output(stream, names.inward(text))

    return listen if on_output else None


def furnish(job: Job, reach: Reach) -> None:
    """A /tmp of the run's own and the runtimes' names, in the job's folder before it is given away."""
    for name in (_TMP, _NAMES):  # an earlier start in the same folder may have left anything there
        place = job.job_dir / name
        clear(place)
        if place.is_symlink() or place.exists():
            place.unlink()
        place.mkdir(mode=0o755)
    folder = job.job_dir / _NAMES
    for runtime in runtimes.installed().values():
        (folder / runtime.name).symlink_to(_program(runtime, reach))
    (folder / "python3").symlink_to("python")


def closed_above(private: Iterable[Path]) -> dict[Path, Path]:
    """Of the runtimes' folders those that nobody else reaches, each with the folder that is closed."""
    prefixes = {runtime.prefix for runtime in runtimes.installed().values()}
    above = {path: _closed(path) for path in private if path in prefixes}
    return {path: top for path, top in above.items() if top}


def _closed(path: Path) -> Path | None:
    return next((top for top in reversed(path.parents) if not top.stat().st_mode & 0o001), None)


def close_inputs(job: Job) -> None:
    """Read-only by mode, which the run cannot change: for a worker whose user id the run shares.

    Links are left alone: an earlier start in the same folder may have put one where the inputs were.
    """
    if not layout.has_inputs(job):
        return
    for parent, folders, files in os.walk(job.job_dir / "input", topdown=False):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if name in folders else 0o444)
    (job.job_dir / "input").chmod(0o555)


def open_again(job: Job) -> None:
    """So that what the run left can be collected, whatever modes its folders were given."""
    todo = [str(job.job_dir)]
    while todo:
        folder = todo.pop()
        with suppress(OSError):  # nobody can name what lies too deep
            os.chmod(folder, 0o700)
            todo += [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]


def plan(job: Job, names: Names, reach: Reach) -> dict[str, Any]:
    """For a job that is ``translated``."""
    environment = {name: names.outward(value) for name, value in layout.environment(job).items()}
    own = f"{names.places['/job']}/{_NAMES}"
    environment["PATH"] = environment["PATH"].replace(f"{runtimes.FOLDER}/bin", own, 1)
    return {
        "paths": [[kind, path] for kind, path in _paths(job, names, reach)],
        "argv": [_named(job.argv[0], own), *job.argv[1:]],
        "environment": environment,
        "cwd": job.cwd,
        "limits": layout.rlimits(job),
        "seccomp": seccomp.program(
            alone=False, pinned=job.limits.cpus > 0, asking=job.served is not None
        ).decode("latin-1"),
    }


def _named(program: str, own: str) -> str:
    """``execvpe`` looks in the environment's PATH, as the other tiers do; a path inside stays a path."""
    prefix = f"{runtimes.FOLDER}/bin/"
    return f"{own}/{program.removeprefix(prefix)}" if program.startswith(prefix) else program


def _paths(job: Job, names: Names, reach: Reach) -> Iterator[tuple[str, str]]:
    yield from (("read", folder) for folder in _SYSTEM)
    yield from (("look", f"/etc/{name}") for name in _ETC)
    yield from (("look", path) for path in _LOOK)
    yield from (("device", f"/dev/{name}") for name in _DEVICES)
    for runtime in runtimes.installed().values():
        yield "read", reach(runtime.prefix or runtime.program)
    for inside, outside in names.places.items():
        yield ("write" if inside in ("/job", "/tmp") else "read"), outside


def _program(runtime: runtimes.Runtime, reach: Reach) -> str:
    """Where its folder is staged, the program is found in the stage."""
    if runtime.prefix is None:
        return reach(runtime.program)
    return str(Path(reach(runtime.prefix)) / runtime.program.relative_to(runtime.prefix))
