"""Tier ``nsrun``: isolates like bubblewrap, with unshare, mount and pivot_root; needs no system package."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import socket
import struct
from typing import Any

from . import gate, kernel

_NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_STRICT = kernel.MS_NOSUID | kernel.MS_NODEV
_RESOURCES = {
    "processes": resource.RLIMIT_NPROC,
    "descriptors": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
    "core": resource.RLIMIT_CORE,
    "real_time": resource.RLIMIT_RTPRIO,
    "priority": resource.RLIMIT_NICE,
    "waiting_signals": resource.RLIMIT_SIGPENDING,
}


def enter(plan: dict[str, Any], status: int, proxy_fd: int | None) -> None:
    """Creates the namespaces, starts the sandbox's first process and waits for it; never returns."""
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{plan['uid']} {uid} 1")
    _write("/proc/self/gid_map", f"{plan['uid']} {gid} 1")
    kernel.unshare(_NAMESPACES)
    first = os.fork()
    if first:
        write_line(status, {"child-pid": first})
        close_all_but(status)
        os.waitpid(first, 0)
        os._exit(0)
    try:
        _first_process(plan, status, proxy_fd)
    except BaseException as error:
        write_line(status, {"failed": str(error) or type(error).__name__})
    finally:
        os._exit(1)


def _first_process(plan: dict[str, Any], status: int, proxy_fd: int | None) -> None:
    """Runs process 1 of the sandbox: mounts files, starts the script, reaps children, exits with the script.

    The kernel then kills every other process in the pid namespace.
    """
    _die_with_outer_parent()
    socket.sethostname(plan["hostname"])
    _loopback_up()
    if proxy_fd is not None:
        gate.pass_listener(proxy_fd)
    _mount_root(plan)
    _write("/proc/sys/user/max_user_namespaces", "0")
    os.setsid()
    # Prevents the script from inspecting this process; the script's own exec resets the flag.
    kernel.set_dumpable(False)
    script = os.fork()
    if script == 0:
        _script(plan)
    kernel.drop_capabilities()
    close_all_but(status)
    while True:
        pid, wait_status = os.wait()
        if pid == script:
            report_exit(status, wait_status)
            os._exit(0)


def close_all_but(keep_fd: int) -> None:
    os.closerange(0, keep_fd)
    os.closerange(keep_fd + 1, 1024)


def _die_with_outer_parent() -> None:
    # In a new pid namespace, the parent's pid reads 0, whether or not the parent is alive. If the parent is
    # gone, the init process adopts this process and kills it.
    kernel.die_with(0)


def _script(plan: dict[str, Any]) -> None:
    os.setsid()
    set_limits(plan["limits"])
    os.chdir(plan["cwd"])
    kernel.no_new_privileges()
    kernel.drop_capabilities()
    kernel.filter_calls(plan["seccomp"].encode("latin-1"))
    become(plan)


def become(plan: dict[str, Any]) -> None:
    """Replaces this process with the script; on failure, writes the reason to stderr and exits.

    The exit code is that of a shell: 127 if the program does not exist, otherwise 126.
    """
    try:
        os.execvpe(plan["argv"][0], plan["argv"], plan["environment"])
    except OSError as error:
        os.write(2, f"{plan['argv'][0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        hard = resource.getrlimit(_RESOURCES[name])[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(_RESOURCES[name], (value, value))


def report_exit(status: int, wait_status: int) -> None:
    if os.WIFSIGNALED(wait_status):
        write_line(status, {"signal": os.WTERMSIG(wait_status)})
    else:
        write_line(status, {"exit-code": os.WEXITSTATUS(wait_status)})


def _mount_root(plan: dict[str, Any]) -> None:
    """Builds a new, read-only root from the plan's steps on an empty tmpfs, and detaches the old root."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", _STRICT, "mode=0755")
    os.chdir("/tmp")
    os.mkdir("new")
    os.mkdir("old")
    kernel.mount("new", "new", flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.pivot_root(".", "old")
    os.chdir("/")
    for step in plan["steps"]:
        _place(step)
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel.unmount(".")
    os.chdir("/")
    kernel.mount("none", "/", flags=kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | _STRICT)


def _place(step: dict[str, Any]) -> None:
    kind, inside = step["kind"], "/new" + step["inside"]
    if kind == "bind":
        _bind(step, "/old" + step["outside"], inside)
    elif kind == "link":
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        os.symlink(step["to"], inside)
    elif kind == "text":
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        _write(inside, step["text"])
    else:
        os.makedirs(inside, exist_ok=True)
    if kind == "tmpfs":
        options = f"mode=1777,size={step['size']},nr_inodes={step['inodes']}"
        kernel.mount("tmpfs", inside, "tmpfs", _STRICT, options)
    elif kind == "proc":
        kernel.mount("proc", inside, "proc", _STRICT | kernel.MS_NOEXEC)
    elif kind == "dev":
        _devices(inside, step)


def _bind(step: dict[str, Any], outside: str, inside: str) -> None:
    if not os.path.lexists(outside) and step["optional"]:
        return
    if os.path.isdir(outside):
        os.makedirs(inside, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        _write(inside, "")
    kernel.bind(outside, inside, read_only=step["read_only"])


def _devices(inside: str, step: dict[str, Any]) -> None:
    kernel.mount("tmpfs", inside, "tmpfs", kernel.MS_NOSUID, "mode=0755,size=64k,nr_inodes=64")
    for name in _DEVICES:
        _write(f"{inside}/{name}", "")
        kernel.mount(f"/old/dev/{name}", f"{inside}/{name}", flags=kernel.MS_BIND)
    for name, to in (("fd", "/proc/self/fd"), ("ptmx", "pts/ptmx"), ("core", "/proc/kcore")):
        os.symlink(to, f"{inside}/{name}")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{inside}/{name}")
    os.mkdir(f"{inside}/pts")
    os.mkdir(f"{inside}/shm")
    options = "newinstance,mode=0620,ptmxmode=0666"
    kernel.mount("devpts", f"{inside}/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, options)
    if step["shared"]:
        kernel.bind("/old" + step["shared"], f"{inside}/shm", read_only=False)
    else:
        options = f"mode=1777,size={step['size']},nr_inodes={step['inodes']}"
        kernel.mount("tmpfs", f"{inside}/shm", "tmpfs", _STRICT | kernel.MS_NOEXEC, options)
    flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID
    kernel.mount("none", inside, flags=flags)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 1 | 64)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(probe, 0x8914, request)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def write_line(descriptor: int, value: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(value).encode() + b"\n")
