"""Measures memory and disk usage of runs that the kernel does not limit or show, and sends SIGTERM to a run's
processes.
"""

from __future__ import annotations

import os
import re
import signal
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_FREE = 64  # number of objects per kind that are not counted
_SOCKET_BYTES = 245_760  # buffer size per socket; the seccomp filter grants no larger ones
_PIPE_BYTES, _TERMINAL_BYTES = 65_536, 139_264
_PTMX = os.makedev(5, 2)  # the device that opens the outer end of a terminal
_SOCKET_KINDS = ("unix", "tcp", "tcp6", "udp", "udp6")
_TIME_WAIT = "06"  # a closed connection uses no memory
_MAX_MAP_BYTES = 1 << 20  # bytes of /proc/PID/maps; a longer map counts as hiding memory
_MAX_MAPPED = 64  # number of deleted files in a map; more count as hiding memory
_MEMORY_LINES = re.compile(r"^Vm(RSS|PTE):\s+(\d+)", re.MULTILINE)
_DELETED = b" (deleted)"
_MAX_PATH_BYTES = 3_840  # length of a folder's path whose entries still have a usable path


def list_processes(first: int) -> list[int]:
    """Process ids of a run: ``first``, which adopts orphans, followed by all of its descendants."""
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


def terminate_processes(first: int) -> bool:
    """Sends SIGTERM to the run's processes except ``first``, which belongs to the sandbox tier.

    Returns False if no process received it.
    """
    sent = False
    for pid in list_processes(first)[1:]:
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            # The process id may have been reused between listing and opening.
            if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{first}/ns/pid"):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                sent = True
        except OSError:
            pass
        finally:
            os.close(handle)
    return sent


def resident_bytes(pids: list[int], cap: int) -> int:
    """Bytes of the processes' resident memory and page tables.

    If the sum exceeds ``cap``, measures again and counts shared pages once, which is slower. Page tables
    count because reading an untouched page needs an entry, but no resident memory.
    """
    sizes = [_memory_of(pid) for pid in pids]
    tables = sum(tables for _pages, tables in sizes)
    resident = sum(pages for pages, _tables in sizes)
    if resident + tables > cap:
        resident = sum(_proportional(pid, "Pss:") for pid in pids)
    return resident + tables


def shared_bytes(pids: list[int]) -> int:
    """Bytes of mapped shared memory, including mapped deleted files, which ``UnlinkedFiles`` also counts."""
    return sum(_proportional(pid, "Pss_Shmem:") for pid in pids)


def _readable_folder(pid: int) -> str:
    """The folder in /proc that shows a process's memory: the folder of the process or of a live thread.

    If the main thread has ended, the process's own folder shows nothing, although other threads use memory.
    """
    own = f"/proc/{pid}"
    if _has_ended(own):
        with suppress(OSError):
            threads = (f"{own}/task/{thread}" for thread in os.listdir(f"{own}/task"))
            return next((folder for folder in threads if not _has_ended(folder)), own)
    return own


def _has_ended(folder: str) -> bool:
    return _read(f"{folder}/stat").rpartition(")")[2].split()[:1] in (["Z"], ["X"])


def _memory_of(pid: int) -> tuple[int, int]:
    """Bytes of a process's resident pages and of its page tables; zeros if the process is gone."""
    text = _read(f"/proc/{pid}/status")
    if "VmRSS" not in text:
        text = _read(f"{_readable_folder(pid)}/status")
    found = dict(_MEMORY_LINES.findall(text))
    return int(found.get("RSS", 0)) * 1024, int(found.get("PTE", 0)) * 1024


def _resident_bytes(pid: int) -> int:
    return _memory_of(pid)[0]


def _proportional(pid: int, field: str) -> int:
    for line in _read(f"{_readable_folder(pid)}/smaps_rollup").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return _resident_bytes(pid) if field == "Pss:" else 0


@dataclass
class UnlinkedFiles:
    """Memory and disk space that the processes of a run use outside of their own memory and their folders.

    ``disk`` and ``files`` are bytes of deleted files that are still open or mapped: ``disk`` on the job's
    disk, ``files`` elsewhere, usually in memory. ``sockets``, ``pipes`` and ``terminals`` are numbers of
    objects with buffers in the kernel. ``hidden`` are the ids of processes that can't be inspected.
    ``in_flight`` is the number of descriptors sent but not received. ``seen`` contains device and inode of
    each counted object.
    """

    disk: int = 0
    files: int = 0
    sockets: int = 0
    pipes: int = 0
    terminals: int = 0
    in_flight: int = 0
    hidden: set[int] = field(default_factory=set)
    seen: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def measure(cls, pids: list[int], device: int) -> UnlinkedFiles:
        """Measures all processes; ``device`` is the ``st_dev`` of the job's disk.

        The first process belongs to the tier and may be closed to inspection, so it is never ``hidden``.
        """
        total = cls()
        for pid in pids:
            total._add(pid, device)
        for pid in pids[1:]:
            total._add_mapped(pid, device)
        total.sockets = max(total.sockets, _network_sockets(pids[1:]))
        total.hidden -= set(pids[:1])
        return total

    @property
    def memory(self) -> int:
        kinds = ((self.sockets, _SOCKET_BYTES), (self.pipes, _PIPE_BYTES), (self.terminals, _TERMINAL_BYTES))
        return self.files + sum(max(0, count - _FREE) * size for count, size in kinds)

    def _add(self, pid: int, device: int) -> None:
        folder = _readable_folder(pid)
        try:
            names = os.listdir(f"{folder}/fd")
        except PermissionError:
            if _resident_bytes(pid):  # a process that is ending has no descriptors
                self.hidden.add(pid)
            return
        except OSError:
            return
        for name in names:
            try:
                status = os.stat(f"{folder}/fd/{name}")
            except OSError:
                continue
            key = (status.st_dev, status.st_ino)
            if key not in self.seen and stat.S_ISSOCK(status.st_mode):
                self.seen.add(key)
                self.sockets += 1
                self.in_flight += _in_flight(f"{folder}/fdinfo/{name}")
            elif key not in self.seen and stat.S_ISFIFO(status.st_mode):
                self.seen.add(key)
                self.pipes += 1
            elif status.st_rdev == _PTMX:
                self.terminals += 1
            elif stat.S_ISREG(status.st_mode) and not status.st_nlink:
                self._count(key, status.st_blocks * 512, device)

    def _add_mapped(self, pid: int, device: int) -> None:
        """Adds deleted files that are mapped but not open.

        Their pages stay allocated even after the process has released them. Adds the process to ``hidden`` if
        its map is too long.
        """
        lines = _mapped_deleted_files(pid)
        if lines is None:
            self.hidden.add(pid)
        known = {inode for _device, inode in self.seen} if lines else set()
        for span, of_device, inode in lines or ():
            try:
                status = os.stat(f"/proc/{pid}/map_files/{span}")
                self._count((status.st_dev, status.st_ino), status.st_blocks * 512, device)
            except OSError:  # not allowed without root, so at least the mapped range is counted
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


def _network_sockets(pids: list[int]) -> int:
    """The number of sockets in the run's network namespace; 0 if the run has none.

    It includes connections that are not accepted yet, because they use memory but belong to no process.
    """
    for pid in pids:
        try:
            if os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net"):
                return sum(_count_sockets(f"/proc/{pid}/net/{kind}") for kind in _SOCKET_KINDS)
        except OSError:
            continue
    return 0


def _count_sockets(table: str) -> int:
    lines = _read(table).splitlines()[1:]
    return sum(table.endswith("unix") or line.split(None, 4)[3] != _TIME_WAIT for line in lines)


def _in_flight(path: str) -> int:
    """The number of descriptors sent over a socket but not received; ``path`` is its entry in ``fdinfo``."""
    for line in _read(path).splitlines():
        if line.startswith("scm_fds:"):
            return int(line.split()[1])
    return 0


def _mapped_deleted_files(pid: int) -> list[tuple[str, str, int]] | None:
    """Range, device and inode of each mapped deleted file; None if there are too many to inspect.

    Empty if the process is gone or can't be inspected.
    """
    try:
        with open(f"{_readable_folder(pid)}/maps", "rb") as file:
            text = file.read(_MAX_MAP_BYTES)
    except OSError:
        return []
    found: dict[tuple[str, int], str] = {}
    for line in text.splitlines() if _DELETED in text else ():
        if line.endswith(_DELETED):
            span, _rights, _offset, device, inode = line.decode("latin-1").split(None, 5)[:5]
            found.setdefault((device, int(inode)), span)
    if len(text) == _MAX_MAP_BYTES or len(found) > _MAX_MAPPED:
        return None
    return [(span, device, inode) for (device, inode), span in found.items()]


@dataclass(frozen=True)
class FolderUsage:
    entries: int
    size: int


def folder_usage(folder: Path, *, entries: int, size: int) -> FolderUsage:
    """Entries and allocated bytes below ``folder``, counted until either limit is exceeded; follows no link.

    Changes the mode of unreadable folders to read them. A path too long to be measured counts as too many
    entries.
    """
    counted, used, todo = 0, 0, [] if folder.is_symlink() else [str(folder)]
    while todo and counted <= entries and used <= size:
        below = todo.pop()
        if len(os.fsencode(below)) > _MAX_PATH_BYTES:
            return FolderUsage(entries + 1, used)  # paths below are too long to be measured
        for entry in _scan(below):
            counted += 1
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            used += status.st_blocks * 512
            if stat.S_ISDIR(status.st_mode):
                todo.append(entry.path)
    return FolderUsage(counted, used)


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:
        return _scan_unreadable(folder)
    except OSError:
        return []


def _scan_unreadable(folder: str) -> list[os.DirEntry[str]]:
    """Makes a folder readable that the run made unreadable to hide files; returns its entries, or [] on
    failure.

    Follows no link.
    """
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


def tmpfs_usage(first: int) -> FolderUsage:
    """The bytes in the run's /tmp, and the entries in its /tmp and /dev/shm together; zeros if unknown.

    The bytes in /dev/shm do not count, because that tmpfs has a fixed size.
    """
    folder = f"/proc/{first}/root"
    try:
        if os.stat(f"{folder}/tmp").st_dev == os.stat("/tmp").st_dev:
            return FolderUsage(0, 0)  # not mounted yet, so this is still the host's /tmp
        status, shared = os.statvfs(f"{folder}/tmp"), os.statvfs(f"{folder}/dev/shm")
    except OSError:
        return FolderUsage(0, 0)
    used = (status.f_blocks - status.f_bfree) * status.f_frsize
    return FolderUsage(sum(each.f_files - each.f_ffree for each in (status, shared)), used)


def _read(path: str) -> str:
    """The text of a file; "" if unreadable. Replaces invalid UTF-8, because the run chooses some names in
    /proc.
    """
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
