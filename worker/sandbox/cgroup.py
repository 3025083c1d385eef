"""A memory cgroup for each run, where this process may make one: v1 by its own folder, v2 where delegated."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_SERIAL = iter(range(1 << 62))


@dataclass(frozen=True)
class Parent:
    """The folder below which groups for runs are made."""

    folder: Path
    version: int


@dataclass(frozen=True)
class Group:
    folder: Path
    version: int

    @property
    def joined_by(self) -> Path:
        """Where a process of one thread writes 0 to come in.

        Version 1 moves a thread without the lock that makes a whole process wait for 14 ms.
        """
        return self.folder / ("tasks" if self.version == 1 else "cgroup.procs")

    def out_of_memory(self) -> bool:
        """True once the kernel has killed something of the run, even if what is left exits 0."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        for line in _read(self.folder / name).splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value) > 0
        return False

    def remove(self) -> None:
        """The last process is gone but the kernel may take a moment to let go."""
        for attempt in range(14):
            try:
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.0002 * 2**attempt)
            else:
                return


def open_group(memory_mb: int) -> Group | None:
    """None where memory cgroups cannot be made here: the watchdog serves instead."""
    parent = find_parent()
    if parent is None:
        return None
    folder = parent.folder / f"skillquay-{os.getpid()}-{next(_SERIAL)}"
    group = Group(folder, parent.version)
    try:
        folder.mkdir()
        _limit(group, memory_mb << 20)
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
        return None
    return group


def _limit(group: Group, size: int) -> None:
    if group.version == 2:
        (group.folder / "memory.max").write_text(str(size))
        with contextlib.suppress(OSError):  # no swap, or an older kernel
            (group.folder / "memory.swap.max").write_text("0")
            (group.folder / "memory.oom.group").write_text("1")
    else:
        (group.folder / "memory.limit_in_bytes").write_text(str(size))
        with contextlib.suppress(OSError):
            (group.folder / "memory.memsw.limit_in_bytes").write_text(str(size))


@cache
def find_parent() -> Parent | None:
    for candidate in _candidates():
        if os.access(candidate.folder, os.W_OK) and _controls_memory(candidate):
            return candidate
    return None


def _candidates() -> list[Parent]:
    found: list[Parent] = []
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found += [Parent(_ROOT / "memory" / path.lstrip("/"), 1), Parent(_ROOT / "memory", 1)]
        elif not controllers:
            own = _ROOT / path.lstrip("/")
            found += [Parent(own, 2)] + ([Parent(own.parent, 2)] if _delegated(own.parent) else [])
    return found


def _delegated(folder: Path) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            return os.getxattr(folder, name) == b"1"
    return False


def _controls_memory(parent: Parent) -> bool:
    """Version 2 hands memory to children only of a group that has no processes of its own, or is the root."""
    if parent.version == 1:
        return (parent.folder / "memory.limit_in_bytes").exists() or parent.folder == _ROOT / "memory"
    switch = parent.folder / "cgroup.subtree_control"
    if "memory" not in _read(switch).split():
        with contextlib.suppress(OSError):
            switch.write_text("+memory")
    return "memory" in _read(switch).split()


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
