"""Attacks by single calls on what a machine has once: its memory, its modules, its files, its processors."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import re
import resource
import signal
import socket
from collections.abc import Callable
from functools import partial

from .trying import HOST, LIBC, Escaped, call, calls, denied, probe

_ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_NOT_RESERVED, _HUGE_MAP, _HUGE_FILE = 0x4000, 0x4_0000, 4
_OWN_MOUNTS = frozenset(("/job", "/tmp", "/proc", "/dev/pts", "/dev/shm"))
_OF_ITS_NAMESPACES = re.compile(r"/proc/sys/(fs/mqueue/.*|kernel/(auto_msgmni|msgm..|pid_max|sem|shm.*))")
_OF_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock", "/run", "/var/crash", "/mnt")


calls("pages that nobody sees and nobody weighs", "memfd_secret", "vmsplice")
calls("look which files of the machine are in memory", "cachestat")
calls("change its own security label", "lsm_set_self_attr")


@probe("huge pages that the machine has put aside")
def _huge() -> str:
    """Neither needs a page to be there before it is touched: refused, it is the filter that refuses."""
    flags = _ANONYMOUS | _HUGE_MAP | _NOT_RESERVED
    first = denied(lambda: mmap.mmap(-1, 2 << 20, flags=flags))
    return first + "; " + denied(lambda: os.memfd_create("x", _HUGE_FILE))


@probe("walls of its own without end")
def _landlock() -> str:
    LIBC.syscall(ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if ctypes.get_errno() != errno.ENOSYS:
        raise Escaped("Landlock's rules are memory of the kernel's that nobody weighs")
    return "there is no such call"


@probe("calls that are newer than the filter")
def _newer() -> str:
    for number in (*range(471, 480), 512, 1000):
        ctypes.set_errno(0)
        if LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) != -1:
            raise Escaped(f"call {number} was answered")
        if ctypes.get_errno() != errno.ENOSYS:
            raise Escaped(f"call {number}: {errno.errorcode[ctypes.get_errno()]}")
    return "none of them is there"


@probe("load modules by asking for protocols")
def _protocols() -> str:
    kinds = {"sctp": (1, 132), "sctp by its kind": (5, 0), "dccp": (6, 33), "udplite": (2, 136)}
    kinds |= {"mptcp": (1, 262), "ping": (2, 1), "l2tp": (2, 115)}
    for name, (kind, protocol) in kinds.items():
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                socket.socket(family, kind, protocol).close()
            except OSError as error:
                if error.errno in (errno.EPROTONOSUPPORT, errno.EPERM):
                    continue
            raise Escaped(f"a socket of {name} was made")
    return "only TCP and UDP are spoken"


# files that others use at the same time


@probe("hold others up at a file by a lease")
def _lease() -> str:
    with open("output/leased", "w"):
        pass
    with open("output/leased") as file:
        kinds = (fcntl.F_WRLCK, fcntl.F_RDLCK)
        return "; ".join(denied(partial(fcntl.fcntl, file, fcntl.F_SETLEASE, kind)) for kind in kinds)


@probe("be told when others open the files of its package")
def _told() -> str:
    if LIBC.inotify_init1(0) >= 0:
        raise Escaped("it has one of the few places from which files are watched")
    folder = os.open("output", os.O_RDONLY)
    try:
        return denied(lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, 1))
    finally:
        os.close(folder)


@probe("take the room for pipes that its user has")
def _pipes() -> str:
    reading, writing = os.pipe()
    with open(reading), open(writing, "w"):
        return denied(lambda: fcntl.fcntl(reading, 1031, 1 << 20))


@probe("change the package under the next run")
def _package() -> str:
    path = __file__
    actions: list[Callable[[], object]] = [
        lambda: os.truncate(path, 0),
        lambda: os.unlink(path),
        lambda: os.rename(path, path + "x"),
        lambda: os.symlink("/etc/passwd", os.path.dirname(path) + "/__pycache__"),
        lambda: os.mkdir(os.path.dirname(path) + "/__pycache__"),
        lambda: os.link(path, "output/package"),
        lambda: open(path, "r+b").close(),
    ]
    for action in actions:
        denied(action)
    changes: list[Callable[[], object]] = [
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path, (1, 1)),
        _into_memory,
    ]
    for change in changes:
        with contextlib.suppress(OSError):
            change()
    return "the worker finds it as it was"  # which ``tried`` looks at


def _into_memory() -> None:
    """Through the map of a file that may only be read."""
    with open(__file__, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        with open("/proc/self/maps") as maps:
            line = next(line for line in maps if __file__ in line)
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(int(line.split("-")[0], 16))
            memory.write(b"# owned")


@probe("write where everybody may write")
def _of_all() -> str:
    """Each mount that is not read-only is the run's own; where it has none, folders that are open to all."""
    try:
        with open("/proc/self/mountinfo") as table:
            mounts = [line.split()[4:6] for line in table]
    except PermissionError:
        made = [partial(os.mkdir, f"{folder}/{HOST['canary']}") for folder in _OF_ALL]
        return "; ".join(denied(each) for each in made)
    for place, options in mounts:
        device = place.startswith("/dev/") and not os.path.isdir(place)
        if "rw" in options.split(",") and not device and place not in _OWN_MOUNTS:
            raise Escaped(f"{place} can be written: {options}")
    return f"{len(mounts)} mounts, only its own can be written"


@probe("write into /proc beside itself")
def _proc() -> str:
    """What is there is written back, so that nothing changes where it is taken."""
    found, tried = [], 0
    for top in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/pressure"):
        for folder, _folders, names in os.walk(top):
            for name in names:
                tried += 1
                with contextlib.suppress(OSError), open(f"{folder}/{name}", "r+b", buffering=0) as file:
                    file.write(file.read(256))
                    found.append(f"{folder}/{name}")
    if others := [path for path in found if not _OF_ITS_NAMESPACES.fullmatch(path)]:
        raise Escaped(f"written: {others}")
    return f"{tried} files tried, and where no folder is listed none"


@probe("write what is above its own process")
def _itself() -> str:
    texts = {"uid_map": "0 0 1", "gid_map": "0 0 1", "setgroups": "allow"}
    texts |= {"timens_offsets": "monotonic 1000 0", "loginuid": "0", "attr/exec": "unconfined"}
    for name, text in texts.items():
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w", buffering=1) as file:
            file.write(text + "\n")
            raise Escaped(f"/proc/self/{name} took {text!r}")
    return "refused: " + ", ".join(texts)


# processes and processors


@probe("signal another process of its user in every other way")
def _signals() -> str:
    """A process of the worker's own stands by; ``tried`` looks whether it still does."""
    pid, kill = HOST["bystander"], signal.SIGKILL
    ours, theirs = socket.socketpair()
    actions: list[Callable[[], object]] = [
        partial(_by_handle, pid),
        lambda: LIBC.tgkill(pid, pid, kill),
        lambda: LIBC.sigqueue(pid, kill, ctypes.c_void_p(0)),
        lambda: os.killpg(pid, kill),
        lambda: fcntl.fcntl(ours, fcntl.F_SETOWN, pid),
        lambda: fcntl.fcntl(ours, fcntl.F_SETSIG, kill),
        lambda: fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC),
        lambda: theirs.send(b"x"),
    ]
    with ours, theirs:
        for action in actions:
            with contextlib.suppress(OSError):
                action()
    return "it stands by as before"  # which ``tried`` looks at


def _by_handle(pid: int) -> None:
    with open(os.pidfd_open(pid), "rb") as handle:
        signal.pidfd_send_signal(handle.fileno(), signal.SIGKILL)


@probe("take the processor by force")
def _real_time() -> str:
    limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE)]
    if limits != [(0, 0)] * 2:
        raise Escaped(f"it may go up to {limits}")
    kinds = (os.SCHED_FIFO, os.SCHED_RR)
    said = [denied(partial(os.sched_setscheduler, 0, kind, os.sched_param(1))) for kind in kinds]
    return "; ".join([*said, denied(lambda: os.nice(-1))])


@probe("take all signals that may wait for its user's processes")
def _waiting() -> str:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    taken = 0
    while taken < 5000 and LIBC.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
        taken += 1
    while signal.sigtimedwait({signal.SIGRTMIN}, 0):
        pass
    if taken > 1024:
        raise Escaped(f"{taken} of them")
    return f"{taken} of them and no more"


@probe("keep others off the cores that it is on")
def _cores() -> str:
    return call("prctl", *[ctypes.c_long(value) for value in (62, 1, 0, 1, 0, 0)])


@probe("leave a key in the ring of a file system")
def _key() -> str:
    folder = os.open("output", os.O_RDONLY)
    try:
        for request in (0xC050_6617, 0x800C_6613):
            try:
                fcntl.ioctl(folder, request, bytearray(80))
            except PermissionError:
                continue
            except OSError as error:
                raise Escaped(f"{request:#x} was heard: {error}") from None
            raise Escaped(f"{request:#x} was done")
    finally:
        os.close(folder)
    return "refused"


@probe("have others ended in its place when memory runs out")
def _score() -> str:
    path = "/proc/self/oom_score_adj"
    try:
        with open(path) as file:
            score = int(file.read())
    except OSError as error:
        return str(error)
    if score != 1000:
        raise Escaped(f"its score is {score}, as of any other process")
    return denied(partial(_written, path, "-1000"))


def _written(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
