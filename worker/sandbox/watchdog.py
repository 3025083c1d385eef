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
_MAP_BYTES = 1 << 20  # of a process's map that are read: a longer one hides something
_MAPPED = 64  # unnamed files in it, likewise
_GONE = b" (deleted)"


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


def ask_to_end(first: int) -> bool:
    """SIGTERM to every process of the run but the first, which is not the script's; False where none is."""
    asked = False
    for pid in members(first)[1:]:
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            # The number may have been given anew between listing and opening.
            if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{first}/ns/pid"):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                asked = True
        except OSError:
            pass
        finally:
            os.close(handle)
    return asked


def resident_bytes(pids: list[int], cap: int) -> int:
    """Resident memory of all; where that is above ``cap``, shared pages are counted once (slower)."""
    total = sum(_resident(pid) for pid in pids)
    return sum(_proportional(pid, "Pss:") for pid in pids) if total > cap else total


def shared_bytes(pids: list[int]) -> int:
    """What resident memory and files without a name have in common: pages of the latter that are mapped."""
    return sum(_proportional(pid, "Pss_Shmem:") for pid in pids)


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if len(fields) > 1 else 0


def _proportional(pid: int, which: str) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(which):
            return int(line.split()[1]) * 1024
    return _resident(pid) if which == "Pss:" else 0


@dataclass
class Unlinked:
    """Bytes of open or mapped files without a name any more: on the job's disk, and in memory (memfd, tmpfs).

    ``sockets`` hold memory that no process has in its map; ``hidden`` are processes that cannot be looked at,
    ``on_their_way`` the descriptors that were sent and are in nobody's hands yet.
    """

    disk: int = 0
    files: int = 0
    sockets: int = 0
    on_their_way: int = 0
    hidden: set[int] = field(default_factory=set)
    seen: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def held_by(cls, pids: list[int], device: int) -> Unlinked:
        """The first of the run is not the script's, and closed to others."""
        held = cls()
        for pid in pids:
            held._add(pid, device)
        for pid in pids[1:]:
            held._add_mapped(pid, device)
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
            if key not in self.seen and stat.S_ISSOCK(status.st_mode):
                self.seen.add(key)
                self.sockets += 1
                self.on_their_way += _sent_by(pid, name)
            elif stat.S_ISREG(status.st_mode) and not status.st_nlink:
                self._count(key, status.st_blocks * 512, device)

    def _add_mapped(self, pid: int, device: int) -> None:
        """What a map alone holds: its pages are in no count once the process has let go of them."""
        lines = _unnamed(pid)
        if lines is None:
            self.hidden.add(pid)
        known = {inode for _device, inode in self.seen} if lines else set()
        for span, of_device, inode in lines or ():
            try:
                status = os.stat(f"/proc/{pid}/map_files/{span}")
                self._count((status.st_dev, status.st_ino), status.st_blocks * 512, device)
            except OSError:  # who is not root may not look: at least what is mapped of it
                start, end = (int(word, 16) for word in span.split("-"))
                major, minor = (int(word, 16) for word in of_device.split(":"))
                if inode not in known:
                    self._count((os.makedev(major, minor), inode), end - start, device)

    def _count(self, key: tuple[int, int], size: int, device: int) -> None:
        if key in self.seen:
            return
        self.seen.add(key)
        if key[0] == device:
            self.disk += size
        else:
            self.files += size


def _sent_by(pid: int, descriptor: str) -> int:
    """Descriptors that wait in a socket to be received."""
    for line in _read(f"/proc/{pid}/fdinfo/{descriptor}").splitlines():
        if line.startswith("scm_fds:"):
            return int(line.split()[1])
    return 0


def _unnamed(pid: int) -> list[tuple[str, str, int]] | None:
    """Range, device and number of each file without a name that is mapped; None where that is too much."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            text = file.read(_MAP_BYTES)
    except OSError:
        return []
    found: dict[tuple[str, int], str] = {}
    for line in text.splitlines() if _GONE in text else ():
        if line.endswith(_GONE):
            span, _rights, _offset, device, inode = line.decode("latin-1").split(None, 5)[:5]
            found.setdefault((device, int(inode)), span)
    if len(text) == _MAP_BYTES or len(found) > _MAPPED:
        return None
    return [(span, device, inode) for (device, inode), span in found.items()]


@dataclass(frozen=True)
class Usage:
    entries: int
    size: int


def folder_usage(folder: Path, *, entries: int, size: int) -> Usage:
    """What lies below ``folder``, counted until either bound is passed; no link is followed."""
    counted, used, todo = 0, 0, [] if folder.is_symlink() else [str(folder)]
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
