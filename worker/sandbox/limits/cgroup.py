"""Creates a cgroup per run if permitted: one folder per controller in version 1, one for all in version 2."""

import contextlib
import errno
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
# Subgroup for the worker's processes, because version 2 allows none in a group with subgroups.
_HOST = "skillquay-host"
_SERIAL = iter(range(1 << 62))
_PERIOD_US = 100_000
_TIER_PROCESSES = 3  # processes of the tier itself, in addition to those of the script
CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True)
class CgroupFolder:
    """A cgroup folder with its usable controllers: a parent of run groups, or the group of one run."""

    folder: Path
    version: int
    controllers: frozenset[str]


@dataclass(frozen=True)
class CgroupLimits:
    memory_mb: int
    processes: int
    cpus: int = 0  # number of processors; 0 means all


@dataclass(frozen=True)
class Cgroup:
    folders: tuple[CgroupFolder, ...]

    @property
    def controllers(self) -> frozenset[str]:
        return frozenset().union(*(group.controllers for group in self.folders))

    @property
    def join_files(self) -> list[Path]:
        """Files to which a single-threaded process writes 0 to join the group.

        Version 1 uses ``tasks``: moving a process takes a lock that costs 14 ms; moving a thread does not.
        """
        return [group.folder / ("tasks" if group.version == 1 else "cgroup.procs") for group in self.folders]

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process for lack of memory, even if the script exited with 0."""
        for group in self.folders:
            if "memory" in group.controllers:
                name = "memory.events" if group.version == 2 else "memory.oom_control"
                return _numbers(group.folder / name).get("oom_kill", 0) > 0
        return False

    def memory_exceeds(self, limit: int, in_tmpfs: int) -> bool:
        """Whether the run's memory, less ``in_tmpfs`` bytes and the file cache, exceeds ``limit`` bytes.

        Reads the group's total first, because it is quick to read and never smaller. False if there is no
        memory controller.
        """
        for group in self.folders:
            if "memory" in group.controllers:
                second = group.version == 2
                total = int(
                    _read(group.folder / ("memory.current" if second else "memory.usage_in_bytes")) or 0
                )
                if total <= limit:
                    return False
                counts = _numbers(group.folder / "memory.stat")
                cached = counts.get("file" if second else "cache", 0) - counts.get("shmem", 0)
                return total - cached - in_tmpfs > limit
        return False

    def cpu_s(self) -> float:
        """CPU seconds of all the run's processes, including children that were never reaped; 0 if unknown."""
        for group in self.folders:
            if group.version == 2:
                return _numbers(group.folder / "cpu.stat").get("usage_usec", 0) / 1e6
            if (group.folder / "cpuacct.usage").exists():
                return int(_read(group.folder / "cpuacct.usage") or 0) / 1e9
        return 0.0

    def remove(self) -> None:
        for group in self.folders:
            _remove(group.folder)


def create_cgroup(limits: CgroupLimits) -> Cgroup | None:
    """Creates the run's cgroup; None if this process can't create one.

    Limits without a controller in the group are enforced only by rlimits and the watchdog.
    """
    name = f"skillquay-{os.getpid()}-{next(_SERIAL)}"
    created = [_create(parent, parent.folder / name, limits) for parent in find_parents()]
    folders = tuple(group for group in created if group)
    return Cgroup(folders) if folders else None


def _create(parent: CgroupFolder, folder: Path, limits: CgroupLimits) -> CgroupFolder | None:
    wanted = parent.controllers - (set() if limits.cpus else {"cpu"})
    if not wanted:
        return None
    try:
        folder.mkdir()
    except OSError:
        return None
    active = frozenset(name for name in wanted if _limit(folder, parent.version, name, limits))
    if not active:
        _remove(folder)
    return CgroupFolder(folder, parent.version, active) if active else None


def _limit(folder: Path, version: int, controller: str, limits: CgroupLimits) -> bool:
    """Writes a controller's limits; returns False if the first write fails. Some kernels lack the other
    limits.
    """
    first, *further = _lines(version, controller, limits).items()
    try:
        (folder / first[0]).write_text(first[1])
    except OSError:
        return False
    for name, value in further:
        with contextlib.suppress(OSError):
            (folder / name).write_text(value)
    return True


def _lines(version: int, controller: str, limits: CgroupLimits) -> Mapping[str, str]:
    size, quota = str(limits.memory_mb << 20), limits.cpus * _PERIOD_US
    pids = {"pids.max": str(limits.processes + _TIER_PROCESSES)}
    if version == 2:
        memory = {"memory.max": size, "memory.swap.max": "0", "memory.oom.group": "1"}
        return {"memory": memory, "pids": pids, "cpu": {"cpu.max": f"{quota} {_PERIOD_US}"}}[controller]
    memory = {"memory.limit_in_bytes": size, "memory.memsw.limit_in_bytes": size}
    return {"memory": memory, "pids": pids, "cpu": {"cpu.cfs_quota_us": str(quota)}}[controller]


@cache
def usable_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or less if one of its cgroups has a limit."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for candidate in _candidates():
        if "memory" in candidate.controllers:
            name = "memory.max" if candidate.version == 2 else "memory.limit_in_bytes"
            for folder in (candidate.folder, *candidate.folder.parents):
                text = _read(folder / name).strip()
                found += [int(text)] if text.isdigit() else []
    return min(found)


@cache
def find_parents() -> tuple[CgroupFolder, ...]:
    """Folders in which run groups can be created; each controller appears in at most one of them. Cached.

    The first call prepares the folders: it enables controllers and removes groups of dead workers. If version
    2 needs that, it also moves the worker's processes to a subgroup.
    """
    found: list[CgroupFolder] = []
    taken: set[str] = set()
    for candidate in _candidates():
        free = candidate.controllers - taken
        if free and os.access(candidate.folder, os.W_OK):
            serving = free if candidate.version == 1 else _enable_controllers(candidate.folder) & free
            if serving:
                found.append(CgroupFolder(candidate.folder, candidate.version, serving))
                taken |= serving
                _sweep(candidate.folder)
    return tuple(found)


def _sweep(parent: Path) -> None:
    """Removes groups of dead workers. A group that still has processes can't be removed and stays."""
    for folder in parent.glob("skillquay-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _candidates() -> list[CgroupFolder]:
    found: list[CgroupFolder] = []
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, names, path = line.split(":", 2)
        if not names:
            found += [CgroupFolder(folder, 2, frozenset(CONTROLLERS)) for folder in _unified(path)]
        for name in CONTROLLERS:
            if name in names.split(","):
                own = _ROOT / name / path.lstrip("/")
                # A container may show its own group as the root although the path is the host's.
                folder = own if own.is_dir() else _ROOT / name
                found.append(CgroupFolder(folder, 1, frozenset({name})))
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


def _enable_controllers(folder: Path) -> frozenset[str]:
    """Enables controllers for subgroups and returns those enabled; returns none if memory can't be enabled.

    Enables memory first. In a group with processes, the other controllers could be enabled alone, but the
    subgroups would then be threaded groups, which no process may join.
    """
    available = _read(folder / "cgroup.controllers").split()
    for name in CONTROLLERS:
        if name in available and name not in _enabled(folder):
            _enable(folder, name)
        if "memory" not in _enabled(folder):
            return frozenset()
    return _enabled(folder)


def _enabled(folder: Path) -> frozenset[str]:
    return frozenset(_read(folder / "cgroup.subtree_control").split()) & frozenset(CONTROLLERS)


def _enable(folder: Path, name: str) -> None:
    """Enables a controller for subgroups if possible.

    If processes in the group prevent this, moves them to a subgroup first; only in a delegated group.
    """
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
    """Removes a group; retries for 3 seconds, because the kernel may use it after its last process ended."""
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
