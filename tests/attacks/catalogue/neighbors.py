"""Attacks by single calls on what shares the machine with the run: other runs, the worker, shared objects."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Callable
from functools import partial

from worker.sandbox.doctor.attacks.inside import (
    HOST,
    LIBC,
    Escaped,
    ProbeSet,
    call,
    denied,
    unreadable,
    unwritable,
)

PROBES = ProbeSet()
_UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@PROBES.add("kill the process that started the script")
def _parent() -> str:
    before = os.getppid()
    try:
        os.kill(before, signal.SIGKILL)
    except PermissionError as error:
        return str(error)
    if os.getppid() != before:
        raise Escaped("it was killed")
    return "it ignores the signal"


@PROBES.add("change limits, priority and processors of the worker")
def _limits_of_worker() -> str:
    worker = HOST["worker"]
    return "; ".join(
        (
            denied(lambda: resource.prlimit(worker, resource.RLIMIT_NOFILE, (0, 0))),
            denied(lambda: os.sched_setaffinity(worker, {0})),
            denied(lambda: os.setpriority(os.PRIO_PROCESS, worker, 19)),
            denied(lambda: os.sched_setscheduler(worker, os.SCHED_BATCH, os.sched_param(0))),
        )
    )


@PROBES.add("leave the job by .. and by /proc/self")
def _dots() -> str:
    up = "../" * 16
    folders = (up, "/job/" + up, "/proc/self/root/", "/proc/self/cwd/" + up, "/dev/fd/../../../")
    return unreadable(*(folder + HOST["other_run"].lstrip("/") for folder in folders))


@PROBES.add("truncate, rename or remove another run's file")
def _spoil() -> str:
    path = HOST["other_run"]
    actions: list[Callable[[], object]] = [
        lambda: os.truncate(path, 0),
        lambda: os.rename(path, path + "x"),
        lambda: os.rename(path, "output/taken"),
        lambda: os.unlink(path),
        lambda: os.rmdir(os.path.dirname(path)),
    ]
    for action in actions:
        denied(action)
    return "all denied"


@PROBES.add("watch folders of the host")
def _watch() -> str:
    watcher = LIBC.inotify_init1(0)
    if LIBC.inotify_add_watch(watcher, os.path.dirname(HOST["other_run"]).encode(), 0xFFF) >= 0:
        raise Escaped("it is notified of every file in it")
    return "denied"


@PROBES.add("use System V objects of other processes")
def _system_v() -> str:
    for name in ("semget", "msgget", "shmget"):
        arguments = (HOST["ipc_key"], 0) if name == "msgget" else (HOST["ipc_key"], 0, 0)
        if getattr(LIBC, name)(*arguments) >= 0:
            raise Escaped(f"{name} found the host's object")
    return "none found"


@PROBES.add("share memory with others through /dev/shm")
def _shared_memory() -> str:
    if os.path.exists(HOST["shared_memory"]):
        return unreadable(HOST["shared_memory"])
    return "the worker's file is not visible"


@PROBES.add("raise its own limits")
def _raise() -> str:
    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)
    return "; ".join(denied(partial(resource.setrlimit, kind, _UNLIMITED)) for kind in kinds)


@PROBES.add("raise the limits of its own cgroup")
def _cgroup() -> str:
    names = ("memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cgroup.procs", "tasks")
    return unwritable(*(f"{folder}/{name}" for folder in HOST["cgroups"] for name in names), "/sys/x")


@PROBES.add("reach devices of the machine")
def _devices() -> str:
    names = ("sda", "vda", "kvm", "fuse", "net/tun", "mem", "port", "vsock", "loop-control", "snapshot")
    return unreadable(*(f"/dev/{name}" for name in names))


@PROBES.add("disable address randomization")
def _personality() -> str:
    return call("personality", 0x0004_0000)


PROBES.add_calls(
    "lend memory to other processes or reclaim theirs", "process_madvise", "process_mrelease", "pidfd_getfd"
)
PROBES.add_calls("list and describe mounts", "statmount", "listmount", "open_tree_attr", "quotactl_fd")
PROBES.add_calls("use obsolete calls", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl", "lookup_dcookie")
PROBES.add_calls("use ports and segments of the processor", "iopl", "ioperm", "modify_ldt")
PROBES.add_socket("open sockets of the kernel's cryptography", 38, socket.SOCK_SEQPACKET)
PROBES.add_socket("open CAN sockets", 29, socket.SOCK_RAW, 1)
PROBES.add_socket("open XDP sockets, which see every packet", 44, socket.SOCK_RAW)


@PROBES.add("send to a datagram socket of the host")
def _datagram() -> str:
    try:
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    except PermissionError as error:
        return str(error)
    return denied(lambda: pair[0].sendto(b"out", HOST["datagram_socket"]))
