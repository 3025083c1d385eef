"""A cgroup for each run, where this process may make one: v1 by a folder for each controller, v2 by one."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_HOST = "skillquay-host"  # where version 2 wants the processes of a group that has groups below it
_SERIAL = iter(range(1 << 62))
_PERIOD_US = 100_000
_SPARE = 3  # processes of the tier itself, beside those of the script
CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True)
class Place:
    """A folder with the controllers that serve there: below it groups are made, or it is a run's own."""

    folder: Path
    version: int
    controllers: frozenset[str]


@dataclass(frozen=True)
class Bounds:
    memory_mb: int
    processes: int
    cpus: int = 0  # 0: as many as there are


@dataclass(frozen=True)
class Group:
    places: tuple[Place, ...]

    @property
    def holds(self) -> frozenset[str]:
        return frozenset().union(*(place.controllers for place in self.places))

    @property
    def joined_by(self) -> list[Path]:
        """Where a process of one thread writes 0 to come in.

        Version 1 moves a thread without the lock that makes a whole process wait for 14 ms.
        """
        return [place.folder / ("tasks" if place.version == 1 else "cgroup.procs") for place in self.places]

    def out_of_memory(self) -> bool:
        """True once the kernel has killed something of the run, even if what is left exits 0."""
        for place in self.places:
            if "memory" in place.controllers:
                name = "memory.events" if place.version == 2 else "memory.oom_control"
                return _numbers(place.folder / name).get("oom_kill", 0) > 0
        return False

    def cpu_s(self) -> float:
        """Of all that ran in it, also of children that nobody waited for; 0 where nobody counts."""
        for place in self.places:
            if place.version == 2:
                return _numbers(place.folder / "cpu.stat").get("usage_usec", 0) / 1e6
            if (place.folder / "cpuacct.usage").exists():
                return int(_read(place.folder / "cpuacct.usage") or 0) / 1e9
        return 0.0

    def remove(self) -> None:
        for place in self.places:
            _remove(place.folder)


def open_group(bounds: Bounds) -> Group | None:
    """None where none can be made here; what a group does not hold is left to limits and the watchdog."""
    name = f"skillquay-{os.getpid()}-{next(_SERIAL)}"
    made = [_made(parent, parent.folder / name, bounds) for parent in find_parents()]
    places = tuple(place for place in made if place)
    return Group(places) if places else None


def _made(parent: Place, folder: Path, bounds: Bounds) -> Place | None:
    wanted = parent.controllers - (set() if bounds.cpus else {"cpu"})
    if not wanted:
        return None
    try:
        folder.mkdir()
    except OSError:
        return None
    held = frozenset(name for name in wanted if _limit(folder, parent.version, name, bounds))
    if not held:
        _remove(folder)
    return Place(folder, parent.version, held) if held else None


def _limit(folder: Path, version: int, controller: str, bounds: Bounds) -> bool:
    """Whether the first line of its limits could be written; a kernel may be without what follows it."""
    first, *further = _lines(version, controller, bounds).items()
    try:
        (folder / first[0]).write_text(first[1])
    except OSError:
        return False
    for name, value in further:
        with contextlib.suppress(OSError):
            (folder / name).write_text(value)
    return True


def _lines(version: int, controller: str, bounds: Bounds) -> Mapping[str, str]:
    size, quota = str(bounds.memory_mb << 20), bounds.cpus * _PERIOD_US
    pids = {"pids.max": str(bounds.processes + _SPARE)}
    if version == 2:
        memory = {"memory.max": size, "memory.swap.max": "0", "memory.oom.group": "1"}
        return {"memory": memory, "pids": pids, "cpu": {"cpu.max": f"{quota} {_PERIOD_US}"}}[controller]
    memory = {"memory.limit_in_bytes": size, "memory.memsw.limit_in_bytes": size}
    return {"memory": memory, "pids": pids, "cpu": {"cpu.cfs_quota_us": str(quota)}}[controller]


@cache
def find_parents() -> tuple[Place, ...]:
    """Where groups for runs can be made, each controller in one place."""
    found: list[Place] = []
    taken: set[str] = set()
    for candidate in _candidates():
        free = candidate.controllers - taken
        if free and os.access(candidate.folder, os.W_OK):
            serving = free if candidate.version == 1 else _handed_down(candidate.folder) & free
            if serving:
                found.append(Place(candidate.folder, candidate.version, serving))
                taken |= serving
                _sweep(candidate.folder)
    return tuple(found)


def _sweep(parent: Path) -> None:
    """Groups whose worker was killed before a run came in: a group with processes cannot be removed."""
    for folder in parent.glob("skillquay-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _candidates() -> list[Place]:
    found: list[Place] = []
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, names, path = line.split(":", 2)
        if not names:
            found += [Place(folder, 2, frozenset(CONTROLLERS)) for folder in _unified(path)]
        for name in CONTROLLERS:
            if name in names.split(","):
                own = _ROOT / name / path.lstrip("/")
                # A container may show its own group as the root while its path is still the host's.
                folder = own if own.is_dir() else _ROOT / name
                found.append(Place(folder, 1, frozenset({name})))
    return found


def _unified(path: str) -> list[Path]:
    own = _ROOT / path.lstrip("/")
    if own.name == _HOST:
        return [own.parent]
    return [own, own.parent] if _delegated(own.parent) else [own]


def _delegated(folder: Path) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            return os.getxattr(folder, name) == b"1"
    return False


def _handed_down(folder: Path) -> frozenset[str]:
    """The controllers that groups below get: memory and those that can be switched on beside it.

    Memory comes first. The others can be handed down in a group that has processes, and turn what is below
    into groups of threads, which no process may join.
    """
    there = _read(folder / "cgroup.controllers").split()
    for name in CONTROLLERS:
        if name in there and name not in _switched_on(folder):
            _switch_on(folder, name)
        if "memory" not in _switched_on(folder):
            return frozenset()
    return _switched_on(folder)


def _switched_on(folder: Path) -> frozenset[str]:
    return frozenset(_read(folder / "cgroup.subtree_control").split()) & frozenset(CONTROLLERS)


def _switch_on(folder: Path, name: str) -> None:
    """Version 2 hands down only in a group without processes; those of a delegated one may be moved below."""
    for _attempt in range(5):
        try:
            (folder / "cgroup.subtree_control").write_text(f"+{name}")
        except OSError as error:
            if error.errno != errno.EBUSY or not _delegated(folder):
                return
            _move_below(folder)
        else:
            return


def _move_below(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / _HOST).mkdir(exist_ok=True)
    for pid in _read(folder / "cgroup.procs").split():
        with contextlib.suppress(OSError):
            (folder / _HOST / "cgroup.procs").write_text(pid)


def _remove(folder: Path) -> None:
    """The last process is gone but the kernel may take a moment to let go."""
    for attempt in range(14):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.0002 * 2**attempt)
        else:
            return


def _numbers(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _read(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
