"""Tier ``landlock``: translates paths in both directions, because a run without namespaces sees host
paths.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.sandbox import layout, runtimes
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits import seccomp
from worker.sandbox.limits.scratch import TMP
from worker.sandbox.policy import Job, OnOutput, SandboxResult, Stream

HostPath = Callable[[Path], str]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("ssl/certs", "ssl/openssl.cnf", "alternatives", "fonts", "ld.so.cache", "libreoffice", "localtime"),
    *("debian_version", "os-release", "lsb-release"),  # pip fails if it can't read the distribution's name
)
_READABLE = (
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_RUNTIMES = ".runtimes"  # name of a folder in the job folder


@dataclass(frozen=True)
class PathTranslation:
    """Maps sandbox paths, as the other tiers have them, to host paths and back."""

    host_paths: Mapping[str, str]

    @classmethod
    def of(cls, job: Job, host_path: HostPath) -> PathTranslation:
        folder = host_path(job.job_dir)
        temporary = host_path(job.scratch.folder / TMP) if job.scratch else f"{folder}/{TMP}"
        own = {"/skill": host_path(job.package_dir), "/tmp": temporary, "/job": folder}
        return cls(own | {inside: host_path(outside) for inside, outside in job.mounts.items()})

    def to_host(self, text: str) -> str:
        """Replaces the sandbox path in a word that is a path or ``name=path``; other words stay unchanged."""
        return self._pattern("(^|=)", "(?=/|$)").sub(lambda match: match[1] + self.host_paths[match[2]], text)

    def to_host_json(self, text: bytes) -> bytes:
        """Replaces the sandbox path at the start of each string in a JSON document."""
        pattern = self._pattern('(")', '(?=[/"])').pattern.encode()
        host_paths = {inside.encode(): outside.encode() for inside, outside in self.host_paths.items()}
        return re.sub(pattern, lambda match: match[1] + host_paths[match[2]], text)

    def to_sandbox(self, text: bytes) -> bytes:
        """Replaces host paths in the run's output with sandbox paths, which the run's caller knows."""
        for inside, outside in self.host_paths.items():
            text = text.replace(outside.encode(), inside.encode())
        return text

    def _pattern(self, before: str, after: str) -> re.Pattern[str]:
        return re.compile(f"{before}({'|'.join(map(re.escape, self.host_paths))}){after}")


def translate_job(job: Job, paths: PathTranslation) -> Job:
    """The job with host paths in its arguments, stdin and working folder, but not in its environment, which
    ``plan`` translates.
    """
    return replace(
        job,
        argv=tuple(paths.to_host(word) for word in job.argv),
        stdin=paths.to_host_json(job.stdin),
        cwd=paths.to_host(job.cwd),
    )


def translate_result(result: SandboxResult, paths: PathTranslation) -> SandboxResult:
    return replace(
        result,
        stdout=paths.to_sandbox(result.stdout),
        stderr=paths.to_sandbox(result.stderr),
        channel=paths.to_sandbox(result.channel),
    )


def translate_output(on_output: OnOutput | None, paths: PathTranslation) -> OnOutput | None:
    def translate(stream: Stream, text: bytes) -> None:
        if on_output:
            on_output(stream, paths.to_sandbox(text))

    return translate if on_output else None


def prepare_job_folder(job: Job, host_path: HostPath) -> None:
    """Creates the folder of runtime links and, without a scratch space, /tmp in the job folder.

    Replaces anything that an earlier start left at their paths. Call this before the run's user gets access.
    """
    for name in (_RUNTIMES,) if job.scratch else (TMP, _RUNTIMES):
        path = job.job_dir / name
        remove_tree(path)
        if path.is_symlink() or path.exists():
            path.unlink()
        path.mkdir(mode=0o755)
    folder = job.job_dir / _RUNTIMES
    for runtime in runtimes.installed().values():
        (folder / runtime.name).symlink_to(_program(runtime, host_path))
    (folder / "python3").symlink_to("python")
    python = Path(_program(runtimes.require("python"), host_path))
    (folder / runtimes.ENVIRONMENT_FILE).write_text(runtimes.empty_environment(python.parent))


def find_closed_parents(private: Iterable[Path]) -> dict[Path, Path]:
    """Maps runtime folders that other users can't enter to their outermost closed parent; omits others."""
    prefixes = {runtime.prefix for runtime in runtimes.installed().values()}
    above = {path: _closed_parent(path) for path in private if path in prefixes}
    return {path: top for path, top in above.items() if top}


def _closed_parent(path: Path) -> Path | None:
    return next((top for top in reversed(path.parents) if not top.stat().st_mode & 0o001), None)


def make_inputs_read_only(job: Job) -> None:
    """Makes the inputs read-only by their modes, for a run that has the worker's own user id.

    The run can't undo this, because its seccomp filter ignores changes of modes. Skips links, because an
    earlier start in the same folder may have replaced inputs with them.
    """
    if not layout.has_inputs(job):
        return
    for parent, folders, files in os.walk(job.job_dir / "input", topdown=False):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if name in folders else 0o444)
    (job.job_dir / "input").chmod(0o555)


def restore_access(job: Job) -> None:
    """Makes all folders of a finished run accessible, regardless of their modes, so that their files can be
    collected.
    """
    remaining = [str(job.job_dir)]
    while remaining:
        folder = remaining.pop()
        with suppress(OSError):  # a path can be too long
            os.chmod(folder, 0o700)
            remaining += [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]


def plan(job: Job, paths: PathTranslation, host_path: HostPath) -> dict[str, Any]:
    """The part of the launcher's order for this tier; ``job`` must come from ``translate_job``."""
    environment = {name: paths.to_host(value) for name, value in layout.environment(job).items()}
    own = f"{paths.host_paths['/job']}/{_RUNTIMES}"
    environment["PATH"] = environment["PATH"].replace(f"{runtimes.FOLDER}/bin", own, 1)
    return {
        "paths": [[kind, path] for kind, path in _paths(job, paths, host_path)],
        "argv": [_resolve_program(job.argv[0], own), *job.argv[1:]],
        "environment": environment,
        "cwd": job.cwd,
        "limits": layout.rlimits(job),
        "own_namespace": job.scratch is not None and os.geteuid() != 0,
        "seccomp": seccomp.program(
            namespaced=False, pinned=job.limits.cpus > 0, notify=job.http_handler is not None
        ).decode("latin-1"),
    }


def _resolve_program(program: str, own: str) -> str:
    prefix = f"{runtimes.FOLDER}/bin/"
    return f"{own}/{program.removeprefix(prefix)}" if program.startswith(prefix) else program


def _paths(job: Job, paths: PathTranslation, host_path: HostPath) -> Iterator[tuple[str, str]]:
    yield from (("read", folder) for folder in _SYSTEM)
    yield from (("look", f"/etc/{name}") for name in _ETC)
    yield from (("look", path) for path in _READABLE)
    yield from (("device", f"/dev/{name}") for name in _DEVICES)
    for runtime in runtimes.installed().values():
        yield "read", host_path(runtime.prefix or runtime.program)
    for inside, outside in paths.host_paths.items():
        yield ("write" if inside in ("/job", "/tmp") else "read"), outside


def _program(runtime: runtimes.Runtime, host_path: HostPath) -> str:
    """The path at which the run's user can access the program: in its staged folder, if it has one."""
    if runtime.prefix is None:
        return host_path(runtime.program)
    return str(Path(host_path(runtime.prefix)) / runtime.program.relative_to(runtime.prefix))
