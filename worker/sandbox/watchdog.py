"""What no kernel limit holds on every machine: memory without cgroups, and what a run leaves on the disk."""

from __future__ import annotations

import os
import re
import signal
import stat
from dataclasses import dataclass, field
from pathlib import Path

_FREE = 64  # of a kind that cost nothing
_SOCKET_BYTES = 245_760  # that one can hold, since the filter grants no larger buffers
_PIPE_BYTES, _TERMINAL_BYTES = 65_536, 139_264
_TERMINALS = os.makedev(5, 2)  # where the outer end of each is opened
_SOCKET_KINDS = ("unix", "tcp", "tcp6", "udp", "udp6")
_WAITED_OUT = "06"  # a connection that is over holds nothing
_MAP_BYTES = 1 << 20  # of a process's map that are read: a longer one hides something
_MAPPED = 64  # unnamed files in it, likewise
_HELD = re.compile(r"^Vm(RSS|PTE):\s+(\d+)", re.MULTILINE)
_GONE = b" (deleted)"
_LONGEST = 3_840  # bytes of a path below which a name may still be said


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
    """Memory of all with the tables that map it; where it is above ``cap``, shared pages count once (slower).

    Tables count apart: a page of zeros that is only read is in nobody's memory, and each has one.
    """
    held = [_held_by(pid) for pid in pids]
    tables = sum(of_tables for _resident, of_tables in held)
    resident = sum(of_pages for of_pages, _tables in held)
    if resident + tables > cap:
        resident = sum(_proportional(pid, "Pss:") for pid in pids)
    return resident + tables


def shared_bytes(pids: list[int]) -> int:
    """What resident memory and files without a name have in common: pages of the latter that are mapped."""
    return sum(_proportional(pid, "Pss_Shmem:") for pid in pids)


def _held_by(pid: int) -> tuple[int, int]:
    """Bytes of resident pages, and of the tables that map them."""
    found = dict(_HELD.findall(_read(f"/proc/{pid}/status")))
    return int(found.get("RSS", 0)) * 1024, int(found.get("PTE", 0)) * 1024


def _resident(pid: int) -> int:
    return _held_by(pid)[0]


def _proportional(pid: int, which: str) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(which):
            return int(line.split()[1]) * 1024
    return _resident(pid) if which == "Pss:" else 0


@dataclass
class Unlinked:
    """Bytes of open or mapped files without a name any more: on the job's disk, and in memory (memfd, tmpfs).

    ``sockets``, pipes and terminals hold memory that no process has in its map; ``hidden`` are processes that
    cannot be looked at, ``on_their_way`` the descriptors that were sent and are in nobody's hands yet.
    """

    disk: int = 0
    files: int = 0
    sockets: int = 0
    pipes: int = 0
    terminals: int = 0
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
        held.sockets = max(held.sockets, _sockets_around(pids[1:]))
        held.hidden -= set(pids[:1])
        return held

    @property
    def memory(self) -> int:
        kinds = ((self.sockets, _SOCKET_BYTES), (self.pipes, _PIPE_BYTES), (self.terminals, _TERMINAL_BYTES))
        return self.files + sum(max(0, count - _FREE) * most for count, most in kinds)

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
            elif key not in self.seen and stat.S_ISFIFO(status.st_mode):
                self.seen.add(key)
                self.pipes += 1
            elif status.st_rdev == _TERMINALS:
                self.terminals += 1
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


def _sockets_around(pids: list[int]) -> int:
    """All in the run's own network: those that wait to be accepted are in nobody's hands, and hold bytes."""
    for pid in pids:
        try:
            if os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net"):
                return sum(_sockets_in(f"/proc/{pid}/net/{kind}") for kind in _SOCKET_KINDS)
        except OSError:
            continue
    return 0


def _sockets_in(table: str) -> int:
    lines = _read(table).splitlines()[1:]
    return sum(table.endswith("unix") or line.split(None, 4)[3] != _WAITED_OUT for line in lines)


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
        below = todo.pop()
        if len(os.fsencode(below)) > _LONGEST:
            return Usage(entries + 1, used)  # nobody can name what lies there, and so weigh it
        for entry in _scan(below):
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
    """What the run has put below its own /tmp, with the entries of its /dev/shm, whose bytes have a cap.

    Nothing where that cannot be seen.
    """
    folder = f"/proc/{first}/root"
    try:
        if os.stat(f"{folder}/tmp").st_dev == os.stat("/tmp").st_dev:
            return Usage(0, 0)  # the sandbox is not furnished yet: that is the host's
        status, shared = os.statvfs(f"{folder}/tmp"), os.statvfs(f"{folder}/dev/shm")
    except OSError:
        return Usage(0, 0)
    used = (status.f_blocks - status.f_bfree) * status.f_frsize
    return Usage(sum(each.f_files - each.f_ffree for each in (status, shared)), used)


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
