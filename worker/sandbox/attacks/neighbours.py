"""Attacks by single calls on what shares the machine with the run: other runs, the worker, stores."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Callable
from functools import partial

from .trying import HOST, LIBC, Escaped, call, calls, denied, no_socket, probe, unreadable, unwritable

_MOST = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@probe("end the process that started the script")
def _parent() -> str:
    before = os.getppid()
    try:
        os.kill(before, signal.SIGKILL)
    except PermissionError as error:
        return str(error)
    if os.getppid() != before:
        raise Escaped("it is gone")
    return "it did not feel it"


@probe("change the limits, the priority or the processors of the worker")
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


@probe("leave the job by .. and by /proc/self")
def _dots() -> str:
    up = "../" * 16
    places = (up, "/job/" + up, "/proc/self/root/", "/proc/self/cwd/" + up, "/dev/fd/../../../")
    return unreadable(*(place + HOST["other_run"].lstrip("/") for place in places))


@probe("truncate, rename or remove another run's file")
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
    return "all refused"


@probe("change modes, times and owners of another run's file")
def _modes() -> str:
    path = HOST["other_run"]
    actions: list[Callable[[], object]] = [
        lambda: os.chmod(path, 0),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.mark", b"1"),
        lambda: os.chown(path, os.getuid(), os.getgid()),
    ]
    for action in actions:
        try:
            action()
        except OSError:
            continue
    return "the worker finds it as it was"  # which ``tried`` looks at


@probe("watch folders of the host")
def _watch() -> str:
    watcher = LIBC.inotify_init1(0)
    if LIBC.inotify_add_watch(watcher, os.path.dirname(HOST["other_run"]).encode(), 0xFFF) >= 0:
        raise Escaped("it is told of every file there")
    return "refused"


@probe("use semaphores, queues and shared memory of others")
def _system_v() -> str:
    for name in ("semget", "msgget", "shmget"):
        arguments = (HOST["ipc_key"], 0) if name == "msgget" else (HOST["ipc_key"], 0, 0)
        if getattr(LIBC, name)(*arguments) >= 0:
            raise Escaped(f"{name} found the host's")
    return "none of them is found"


@probe("raise its own limits")
def _raise() -> str:
    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)
    return "; ".join(denied(partial(resource.setrlimit, kind, _MOST)) for kind in kinds)


@probe("raise the limits of its own cgroup")
def _cgroup() -> str:
    names = ("memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cgroup.procs", "tasks")
    return unwritable(*(f"{folder}/{name}" for folder in HOST["groups"] for name in names), "/sys/x")


@probe("reach devices of the machine")
def _devices() -> str:
    names = ("sda", "vda", "kvm", "fuse", "net/tun", "mem", "port", "vsock", "loop-control", "snapshot")
    return unreadable(*(f"/dev/{name}" for name in names))


@probe("switch off address randomisation")
def _personality() -> str:
    return call("personality", 0x0004_0000)


calls("lend its processes to others, or take theirs", "process_madvise", "process_mrelease", "pidfd_getfd")
calls("list and describe mounts", "statmount", "listmount", "open_tree_attr", "quotactl_fd")
calls("obsolete doors", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl", "lookup_dcookie")
calls("ports and segments of the processor", "iopl", "ioperm", "modify_ldt")
no_socket("sockets of the kernel's cryptography", 38, socket.SOCK_SEQPACKET)
no_socket("sockets of keys, cars and clusters", 29, socket.SOCK_RAW, 1)
no_socket("sockets that see every packet (XDP)", 44, socket.SOCK_RAW)


@probe("share memory with others through /dev/shm")
def _shared_memory() -> str:
    if os.path.exists("/dev/shm/" + HOST["abstract"]):
        return unreadable("/dev/shm/" + HOST["abstract"])
    return "what the worker put there is not seen"
