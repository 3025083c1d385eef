"""Attacks by single calls on what the whole machine shares: memory, kernel modules, files, processors."""

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
from functools import partial

from worker.sandbox.doctor.attacks.inside import HOST, LIBC, Escaped, ProbeSet, call, denied

PROBES = ProbeSet()
_ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_NOT_RESERVED, _HUGE_MAP, _HUGE_FILE = 0x4000, 0x4_0000, 4
_OWN_MOUNTS = frozenset(("/job", "/tmp", "/proc", "/dev/pts", "/dev/shm"))
_NAMESPACED = re.compile(r"/proc/sys/(fs/mqueue/.*|kernel/(auto_msgmni|msgm..|pid_max|sem|shm.*))")
_WORLD_WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock", "/run", "/var/crash", "/mnt")


PROBES.add_calls("allocate pages that no limit counts", "memfd_secret", "vmsplice")
PROBES.add_calls("see which files of the machine are in memory", "cachestat")
PROBES.add_calls("change its own security label", "lsm_set_self_attr")


@PROBES.add("use huge pages that the machine has reserved")
def _huge() -> str:
    """Neither call allocates a page before it is touched, so an error comes from the filter."""
    flags = _ANONYMOUS | _HUGE_MAP | _NOT_RESERVED
    first = denied(lambda: mmap.mmap(-1, 2 << 20, flags=flags))
    return first + "; " + denied(lambda: os.memfd_create("x", _HUGE_FILE))


@PROBES.add("create Landlock rules without end")
def _landlock() -> str:
    LIBC.syscall(ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if ctypes.get_errno() != errno.ENOSYS:
        raise Escaped("Landlock rules use kernel memory that no limit counts")
    return "ENOSYS"


@PROBES.add("calls that are newer than the filter")
def _newer() -> str:
    for number in (*range(471, 480), 512, 1000):
        ctypes.set_errno(0)
        if LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) != -1:
            raise Escaped(f"call {number} was answered")
        if ctypes.get_errno() != errno.ENOSYS:
            raise Escaped(f"call {number}: {errno.errorcode[ctypes.get_errno()]}")
    return "ENOSYS"


@PROBES.add("load kernel modules by opening sockets of other protocols")
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
            raise Escaped(f"a socket of {name} was opened")
    return "only TCP and UDP are available"


# files that others use at the same time


@PROBES.add("delay others at a file by a lease")
def _lease() -> str:
    with open("output/leased", "w"):
        pass
    with open("output/leased") as file:
        kinds = (fcntl.F_WRLCK, fcntl.F_RDLCK)
        return "; ".join(denied(partial(fcntl.fcntl, file, fcntl.F_SETLEASE, kind)) for kind in kinds)


@PROBES.add("watch the files of its package being opened")
def _notify() -> str:
    if LIBC.inotify_init1(0) >= 0:
        raise Escaped("it has one of the user's few file watches")
    folder = os.open("output", os.O_RDONLY)
    try:
        return denied(lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, 1))
    finally:
        os.close(folder)


@PROBES.add("use up the pipe buffers of its user")
def _pipes() -> str:
    reading, writing = os.pipe()
    with open(reading), open(writing, "w"):
        return denied(lambda: fcntl.fcntl(reading, 1031, 1 << 20))


@PROBES.add("write to world-writable folders")
def _world_writable() -> str:
    """Every writable mount must be the run's own; without a mount table, tries well-known folders."""
    try:
        with open("/proc/self/mountinfo") as table:
            mounts = [line.split()[4:6] for line in table]
    except PermissionError:
        attempts = [partial(os.mkdir, f"{folder}/{HOST['canary']}") for folder in _WORLD_WRITABLE]
        return "; ".join(denied(attempt) for attempt in attempts)
    for path, options in mounts:
        device = path.startswith("/dev/") and not os.path.isdir(path)
        if "rw" in options.split(",") and not device and path not in _OWN_MOUNTS:
            raise Escaped(f"{path} is writable: {options}")
    return f"only the run's own of {len(mounts)} mounts are writable"


@PROBES.add("write to /proc outside its own process")
def _proc() -> str:
    """Writes each file's own content back, so that a success changes nothing."""
    written, tried = [], 0
    for top in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/pressure"):
        for folder, _folders, names in os.walk(top):
            for name in names:
                tried += 1
                with contextlib.suppress(OSError), open(f"{folder}/{name}", "r+b", buffering=0) as file:
                    file.write(file.read(256))
                    written.append(f"{folder}/{name}")
    if others := [path for path in written if not _NAMESPACED.fullmatch(path)]:
        raise Escaped(f"written: {others}")
    return f"{tried} files tried"


@PROBES.add("write privileged files of its own process")
def _own_process() -> str:
    texts = {"uid_map": "0 0 1", "gid_map": "0 0 1", "setgroups": "allow"}
    texts |= {"timens_offsets": "monotonic 1000 0", "loginuid": "0", "attr/exec": "unconfined"}
    for name, text in texts.items():
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w", buffering=1) as file:
            file.write(text + "\n")
            raise Escaped(f"/proc/self/{name} accepted {text!r}")
    return "denied: " + ", ".join(texts)


# processes and processors


@PROBES.add("take the processor by real-time priority")
def _real_time() -> str:
    limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE)]
    if limits != [(0, 0)] * 2:
        raise Escaped(f"its limits are {limits}")
    kinds = (os.SCHED_FIFO, os.SCHED_RR)
    errors = [denied(partial(os.sched_setscheduler, 0, kind, os.sched_param(1))) for kind in kinds]
    return "; ".join([*errors, denied(lambda: os.nice(-1))])


@PROBES.add("use up the pending signals of its user")
def _pending_signals() -> str:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    queued = 0
    while queued < 5000 and LIBC.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
        queued += 1
    while signal.sigtimedwait({signal.SIGRTMIN}, 0):
        pass
    if queued > 1024:
        raise Escaped(f"{queued} signals were queued")
    return f"only {queued} signals were queued"


@PROBES.add("keep other processes off its cores")
def _cores() -> str:
    return call("prctl", *[ctypes.c_long(value) for value in (62, 1, 0, 1, 0, 0)])


@PROBES.add("leave a key in the key ring of a file system")
def _key() -> str:
    folder = os.open("output", os.O_RDONLY)
    try:
        for request in (0xC050_6617, 0x800C_6613):
            try:
                fcntl.ioctl(folder, request, bytearray(80))
            except PermissionError:
                continue
            except OSError as error:
                raise Escaped(f"{request:#x} reached the file system: {error}") from None
            raise Escaped(f"{request:#x} succeeded")
    finally:
        os.close(folder)
    return "denied"


@PROBES.add("survive others when memory runs out")
def _score() -> str:
    path = "/proc/self/oom_score_adj"
    try:
        with open(path) as file:
            score = int(file.read())
    except OSError as error:
        return str(error)
    if score != 1000:
        raise Escaped(f"its score is {score}")
    return denied(partial(_write, path, "-1000"))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
