"""What no kernel limit holds on every machine: memory without cgroups, and what a run leaves on the disk."""

from __future__ import annotations

import os
import signal
import stat
from dataclasses import dataclass, field
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
_SOCKETS = 64  # that cost nothing
_SOCKET_BYTES = 245_760  # that one can hold, since the filter grants no larger buffers


def members(first: int) -> list[int]:
    """The run's processes: the first of its namespace, to which orphans return, and all below it."""
    found, todo = [], [first]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            todo += [int(child) for child in _read(f"/proc/{pid}/task/{thread}/children").split()]
    return found


def ask_to_end(first: int) -> None:
    """SIGTERM to every process of the run but the first, which is not the script's."""
    for pid in members(first)[1:]:
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            # The number may have been given anew between listing and opening.
            if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{first}/ns/pid"):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        except OSError:
            pass
        finally:
            os.close(handle)


def resident_bytes(pids: list[int], cap: int) -> int:
    """Resident memory of all; where that is above ``cap``, shared pages are counted once (slower)."""
    total = sum(_resident(pid) for pid in pids)
    return sum(_proportional(pid) for pid in pids) if total > cap else total


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if len(fields) > 1 else 0


def _proportional(pid: int) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)


@dataclass
class Unlinked:
    """Bytes of open files that have no name any more: on the job's disk, and in memory (memfd, tmpfs).

    ``sockets`` hold memory that no process has in its map; ``hidden`` are processes that cannot be looked at.
    """

    disk: int = 0
    files: int = 0
    sockets: int = 0
    hidden: set[int] = field(default_factory=set)
    seen: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def held_by(cls, pids: list[int], device: int) -> Unlinked:
        """The first of the run is not the script's, and closed to others."""
        held = cls()
        for pid in pids:
            held._add(pid, device)
        held.hidden -= set(pids[:1])
        return held

    @property
    def memory(self) -> int:
        return self.files + max(0, self.sockets - _SOCKETS) * _SOCKET_BYTES

    def _add(self, pid: int, device: int) -> None:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except PermissionError:
            if _resident(pid):  # one that is ending has no memory of its own any more
                self.hidden.add(pid)
            return
        except OSError:
            return
        for name in names:
            try:
                status = os.stat(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            key = (status.st_dev, status.st_ino)
            is_socket = stat.S_ISSOCK(status.st_mode)
            if key in self.seen or not (is_socket or (stat.S_ISREG(status.st_mode) and not status.st_nlink)):
                continue
            self.seen.add(key)
            if is_socket:
                self.sockets += 1
            elif status.st_dev == device:
                self.disk += status.st_blocks * 512
            else:
                self.files += status.st_blocks * 512


@dataclass(frozen=True)
class Usage:
    entries: int
    size: int


def folder_usage(folder: Path, *, entries: int, size: int) -> Usage:
    """What lies below ``folder``, counted until either bound is passed; no link is followed."""
    counted, used, todo = 0, 0, [str(folder)]
    while todo and counted <= entries and used <= size:
        for entry in _scan(todo.pop()):
            counted += 1
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            used += status.st_blocks * 512
            if stat.S_ISDIR(status.st_mode):
                todo.append(entry.path)
    return Usage(counted, used)


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:
        return _scan_closed(folder)
    except OSError:
        return []


def _scan_closed(folder: str) -> list[os.DirEntry[str]]:
    """A run hides what it writes by closing the folder: its owner opens it again. No link is followed."""
    try:
        handle = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return list(os.scandir(folder))
    except OSError:
        return []
    finally:
        os.close(handle)


def tmpfs_usage(first: int) -> Usage:
    """What the run has put below its own /tmp; nothing where that cannot be seen."""
    folder = f"/proc/{first}/root/tmp"
    try:
        if os.stat(folder).st_dev == os.stat("/tmp").st_dev:
            return Usage(0, 0)  # the sandbox is not furnished yet: that is the host's
        status = os.statvfs(folder)
    except OSError:
        return Usage(0, 0)
    used = (status.f_blocks - status.f_bfree) * status.f_frsize
    return Usage(status.f_files - status.f_ffree, used)


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
