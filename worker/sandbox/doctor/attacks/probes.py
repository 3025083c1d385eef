"""Attacks by single calls on files, the worker, other runs, the kernel and the network."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
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
    in_child,
    unreadable,
    unwritable,
)

PROBES = ProbeSet()
CHANGE_OTHER_RUN = "change mode, time and owner of another run's file"
CHANGE_PACKAGE = "change the package for the next run"
SIGNAL_BYSTANDER = "signal another process of the worker's user"

# reading


@PROBES.add("read /etc/shadow")
def _shadow() -> str:
    return unreadable("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/1/root/etc/shadow")


@PROBES.add("read the portal's source and settings")
def _portal() -> str:
    return unreadable(*HOST["secrets"])


@PROBES.add("read another run's folder")
def _other_run() -> str:
    return unreadable(HOST["other_run"], "/job/../" + HOST["other_run"].lstrip("/"))


@PROBES.add("read the worker's environment")
def _environment() -> str:
    for variables in (os.environ, _first_environment()):
        if HOST["canary"] in json.dumps(dict(variables)):
            raise Escaped("the worker's environment was read")
    return unreadable(f"/proc/{HOST['worker']}/environ")


def _first_environment() -> dict[str, str]:
    try:
        with open("/proc/1/environ", errors="replace") as file:
            return {"environ": file.read()}
    except OSError:
        return {}


@PROBES.add("see other processes in /proc")
def _processes() -> str:
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except PermissionError as error:
        return unreadable(f"/proc/{HOST['worker']}/cmdline", f"/proc/{HOST['worker']}/status") + f"; {error}"
    if len(pids) > 8 or os.path.exists(f"/proc/{HOST['worker']}/root/."):
        raise Escaped(f"{len(pids)} processes are visible")
    return f"only the run's own {len(pids)} processes are visible"


# writing


@PROBES.add("write outside /job")
def _write_outside() -> str:
    return unwritable("/skill/x", "/usr/x", "/etc/x", "/x", "/dev/x", "/runtimes/x", "/etc/passwd", "/bin/sh")


@PROBES.add("set core pattern, sysrq and kernel settings")
def _settings() -> str:
    return unwritable(
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/hostname",
    )


@PROBES.add(CHANGE_OTHER_RUN)
def _change_other_run() -> str:
    path = HOST["other_run"]
    actions: list[Callable[[], object]] = [
        lambda: os.chmod(path, 0),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.mark", b"1"),
        lambda: os.chown(path, os.getuid(), os.getgid()),
    ]
    for action in actions:
        with contextlib.suppress(OSError):
            action()
    return "the file is unchanged"  # checked by ``arena.single_calls``


@PROBES.add(CHANGE_PACKAGE)
def _change_package() -> str:
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
        _write_mapped_file,
    ]
    for change in changes:
        with contextlib.suppress(OSError):
            change()
    return "the package is unchanged"  # checked by ``arena.single_calls``


def _write_mapped_file() -> None:
    """Writes to this read-only file through /proc/self/mem, at the address where the file is mapped."""
    with open(__file__, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        with open("/proc/self/maps") as maps:
            line = next(line for line in maps if __file__ in line)
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(int(line.split("-")[0], 16))
            memory.write(b"# owned")


# privileges, the worker and other processes


@PROBES.add("gain privileges by a set-uid program")
def _set_uid() -> str:
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    sets = ["CapEff", "CapPrm", "CapInh", "CapAmb"] + ["CapBnd"] * HOST["namespaces"]
    if status["NoNewPrivs"] != "1" or any(int(status[name], 16) for name in sets):
        raise Escaped(str({name: status[name] for name in sets}))
    return denied(lambda: os.setuid(0))


@PROBES.add("use inherited descriptors")
def _descriptors() -> str:
    numbers = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    if set(numbers) - {"0", "1", "2"}:
        raise Escaped(f"open: {numbers}")
    return "only 0, 1 and 2 are open"


@PROBES.add("signal the worker")
def _signal() -> str:
    return denied(lambda: os.kill(HOST["worker"], signal.SIGUSR1))


@PROBES.add(SIGNAL_BYSTANDER)
def _signal_bystander() -> str:
    pid, kill = HOST["bystander"], signal.SIGKILL
    ours, theirs = socket.socketpair()
    actions: list[Callable[[], object]] = [
        partial(_signal_by_handle, pid),
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
    return "the process is alive"  # checked by ``arena.single_calls``


def _signal_by_handle(pid: int) -> None:
    with open(os.pidfd_open(pid), "rb") as handle:
        signal.pidfd_send_signal(handle.fileno(), signal.SIGKILL)


@PROBES.add("type into the terminal (TIOCSTI, TIOCLINUX)")
def _terminal() -> str:
    try:
        master, slave = os.openpty()
    except PermissionError as error:
        return f"no terminal can be opened: {error}"
    with open(master), open(slave):
        for request in (0x5412, 0x541C):
            try:
                fcntl.ioctl(slave, request, b"x")
            except OSError as error:
                if error.errno == errno.EPERM:
                    continue
            raise Escaped(f"ioctl {request:#x} reached the terminal")
    return "ioctl: EPERM"


# the kernel

PROBES.add_calls(
    "read and write another process's memory",
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
)
PROBES.add_calls(
    "mount",
    *("mount", "umount2", "open_tree", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr"),
    *("chroot", "pivot_root"),
)
PROBES.add_calls("enter or create namespaces", "setns", "unshare")
PROBES.add_calls("use the kernel's key rings", "keyctl", "add_key", "request_key")
PROBES.add_calls("load programs into the kernel (bpf)", "bpf")
PROBES.add_calls("use io_uring", "io_uring_setup", "io_uring_enter", "io_uring_register")
PROBES.add_calls(
    "load modules or another kernel", "init_module", "finit_module", "delete_module", "kexec_load", "reboot"
)
PROBES.add_calls("open files by handle", "open_by_handle_at", "name_to_handle_at")


@PROBES.add("clone with a new user namespace")
def _clone() -> str:
    return call("clone", ctypes.c_long(0x1000_0000 | signal.SIGCHLD), *[ctypes.c_long(0)] * 4)


@PROBES.add("x32 system calls")
def _x32() -> str:
    if os.uname().machine != "x86_64":
        return "missing on this architecture"
    status = in_child(lambda: LIBC.syscall(ctypes.c_long(0x4000_0000 + 39)))
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGSYS:
        raise Escaped(f"wait status {status}")
    return "killed by SIGSYS"


# the network


@PROBES.add("reach a service on the host's loopback")
def _loopback() -> str:
    return denied(lambda: socket.create_connection(("127.0.0.1", HOST["port"]), 2))


@PROBES.add("reach the cloud's metadata address")
def _metadata() -> str:
    return denied(lambda: socket.create_connection(("169.254.169.254", 80), 2))


@PROBES.add("resolve a name")
def _dns() -> str:
    return denied(lambda: socket.getaddrinfo("example.com", 80))


PROBES.add_socket("open raw sockets", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
PROBES.add_socket("open vsock sockets", 40, socket.SOCK_STREAM)


@PROBES.add("connect to an abstract socket of the host")
def _abstract() -> str:
    return denied(lambda: socket.socket(socket.AF_UNIX).connect("\0" + HOST["abstract"]))
