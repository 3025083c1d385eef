"""Attacks by single calls: reading, writing, touching the worker, the kernel's wide doors, the network."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import stat
import struct
from collections.abc import Callable

from .trying import (
    HOST,
    LIBC,
    Escaped,
    call,
    calls,
    denied,
    in_child,
    no_socket,
    probe,
    unreadable,
    unwritable,
)

# reading what is not the run's


@probe("read /etc/shadow")
def _shadow() -> str:
    return unreadable("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/1/root/etc/shadow")


@probe("read the portal's source, settings and database")
def _portal() -> str:
    return unreadable(*HOST["secrets"])


@probe("read another run's folder")
def _other_run() -> str:
    return unreadable(HOST["other_run"], "/job/../" + HOST["other_run"].lstrip("/"))


@probe("read the worker's environment")
def _environment() -> str:
    for variables in (os.environ, _process_one()):
        if HOST["canary"] in json.dumps(dict(variables)):
            raise Escaped("the worker's environment was read")
    return unreadable(f"/proc/{HOST['worker']}/environ")


def _process_one() -> dict[str, str]:
    try:
        with open("/proc/1/environ", errors="replace") as file:
            return {"environ": file.read()}
    except OSError:
        return {}


@probe("see other processes in /proc")
def _processes() -> str:
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except PermissionError as error:
        return unreadable(f"/proc/{HOST['worker']}/cmdline", f"/proc/{HOST['worker']}/status") + f"; {error}"
    if len(pids) > 8 or os.path.exists(f"/proc/{HOST['worker']}/root/."):
        raise Escaped(f"{len(pids)} processes seen")
    return f"{len(pids)} processes, all the run's own"


@probe("find host paths in the first process's command line")
def _command_line() -> str:
    try:
        with open("/proc/1/cmdline") as file:
            text = file.read()
    except OSError as error:
        return str(error)
    for path in HOST["paths"]:
        if path in text:
            raise Escaped(text)
    return "none there"


@probe("look into the first process of the sandbox")
def _first_process() -> str:
    return denied(lambda: os.listdir("/proc/1/fd"))


@probe("read kernel addresses, log and memory")
def _kernel() -> str:
    try:
        with open("/proc/kallsyms") as file:
            if int(file.readline().split()[0], 16):
                raise Escaped("kallsyms shows addresses")
    except (OSError, IndexError):
        pass
    return unreadable("/proc/kcore", "/dev/mem", "/dev/kmsg", "/proc/kmsg")


# writing where it may not


@probe("write outside /job")
def _write_outside() -> str:
    return unwritable("/skill/x", "/usr/x", "/etc/x", "/x", "/dev/x", "/runtimes/x", "/etc/passwd", "/bin/sh")


@probe("write into the inputs")
def _write_inputs() -> str:
    return unwritable("/job/input/x")


@probe("set core pattern, sysrq and kernel settings")
def _settings() -> str:
    return unwritable(
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/hostname",
    )


@probe("write into the memory of the first process")
def _memory_of_first() -> str:
    return unwritable("/proc/1/mem", "/proc/1/task/1/mem", "/proc/1/oom_score_adj")


@probe("make a device")
def _device() -> str:
    return denied(lambda: os.mknod("/job/output/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))


@probe("hard-link what is not the run's")
def _hard_link() -> str:
    return denied(lambda: os.link("/usr/bin/env", "/job/output/env"))


@probe("gain privileges by a set-uid program")
def _set_uid() -> str:
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    sets = ["CapEff", "CapPrm", "CapInh", "CapAmb"] + ["CapBnd"] * HOST["namespaces"]
    if status["NoNewPrivs"] != "1" or any(int(status[name], 16) for name in sets):
        raise Escaped(str({name: status[name] for name in sets}))
    return denied(lambda: os.setuid(0))


@probe("use inherited descriptors")
def _descriptors() -> str:
    found = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    if set(found) - {"0", "1", "2"}:
        raise Escaped(f"open: {found}")
    return "only 0, 1 and 2 are open"


# touching the worker


@probe("signal the worker")
def _signal() -> str:
    return denied(lambda: os.kill(HOST["worker"], signal.SIGUSR1))


@probe("ptrace")
def _ptrace() -> str:
    return call("ptrace", 16, HOST["worker"], 0, 0)


@probe("read and write another process's memory")
def _process_memory() -> str:
    return "; ".join(call(name) for name in ("process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"))


@probe("type into the terminal (TIOCSTI, TIOCLINUX)")
def _terminal() -> str:
    try:
        master, slave = os.openpty()
    except PermissionError as error:
        return f"no terminal can be made: {error}"
    with open(master), open(slave):
        for request in (0x5412, 0x541C):
            try:
                fcntl.ioctl(slave, request, b"x")
            except OSError as error:
                if error.errno == errno.EPERM:
                    continue
            raise Escaped(f"ioctl {request:#x} reached the terminal")
    return "ioctl: EPERM"


# the kernel's wide doors


calls("mount", "mount", "umount2", "open_tree", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr")
calls("change the root", "chroot", "pivot_root")
calls("enter or make namespaces", "setns", "unshare")
calls("the kernel's key rings", "keyctl", "add_key", "request_key")
calls("bpf", "bpf")
calls("userfaultfd", "userfaultfd")
calls("performance counters", "perf_event_open")
calls("io_uring", "io_uring_setup", "io_uring_enter", "io_uring_register")
calls(
    "load modules or another kernel", "init_module", "finit_module", "delete_module", "kexec_load", "reboot"
)
calls("open files by handle", "open_by_handle_at", "name_to_handle_at")
calls("swap, quota, accounting, kernel log", "swapon", "swapoff", "quotactl", "acct", "syslog")
calls("set the clock or the host's name", "settimeofday", "clock_settime", "sethostname", "setdomainname")
calls("move memory between nodes", "move_pages", "mbind", "migrate_pages", "set_mempolicy")
calls("the machine's count of asynchronous requests", "io_setup")
calls("memory that no process owns", "shmget", "msgget", "semget")
calls("watch every file, hang up the terminal", "fanotify_init", "vhangup")


@probe("close itself to whoever looks what it holds")
def _undumpable() -> str:
    return call("prctl", *[ctypes.c_long(value) for value in (4, 0, 0, 0, 0, 0)])


@probe("clone with a new user namespace")
def _clone() -> str:
    return call("clone", ctypes.c_long(0x1000_0000 | signal.SIGCHLD), *[ctypes.c_long(0)] * 4)


@probe("clone3")
def _clone3() -> str:
    return call("clone3")


@probe("x32 system calls")
def _x32() -> str:
    if os.uname().machine != "x86_64":
        return "the architecture has none"
    return _killed(lambda: LIBC.syscall(ctypes.c_long(0x4000_0000 + 39)))


def _killed(action: Callable[[], object]) -> str:
    status = in_child(action)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGSYS:
        raise Escaped(f"wait status {status}")
    return "killed by SIGSYS"


@probe("32-bit system calls (int 0x80)")
def _int80() -> str:
    if os.uname().machine != "x86_64":
        return "the architecture has none"
    import mmap

    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return _killed(ctypes.CFUNCTYPE(ctypes.c_int)(address))


# the network


@probe("reach a service on the host's loopback")
def _loopback() -> str:
    return denied(lambda: socket.create_connection(("127.0.0.1", HOST["port"]), 2))


@probe("reach the cloud's metadata address")
def _metadata() -> str:
    return denied(lambda: socket.create_connection(("169.254.169.254", 80), 2))


@probe("resolve a name")
def _dns() -> str:
    return denied(lambda: socket.getaddrinfo("example.com", 80))


@probe("send a datagram out")
def _datagram() -> str:
    return denied(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))


no_socket("raw sockets", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
no_socket("packet sockets", 17, socket.SOCK_RAW)
no_socket("vsock", 40, socket.SOCK_STREAM)
no_socket("netlink", 16, socket.SOCK_RAW)


@probe("an abstract socket of the host")
def _abstract() -> str:
    return denied(lambda: socket.socket(socket.AF_UNIX).connect("\0" + HOST["abstract"]))


@probe("a socket file of the host")
def _socket_file() -> str:
    return denied(lambda: socket.socket(socket.AF_UNIX).connect(HOST["socket_file"]))


@probe("see the host's network interfaces")
def _interfaces() -> str:
    try:
        names = [name for _index, name in _interface_names()]
    except PermissionError as error:
        return str(error)
    if set(names) - {"lo"}:
        raise Escaped(str(names))
    return "only lo"


def _interface_names() -> list[tuple[int, str]]:
    with open("/proc/net/dev") as file:
        return [(place, line.split(":")[0].strip()) for place, line in enumerate(file) if ":" in line]


@probe("configure the network")
def _configure() -> str:
    address = struct.pack("16sH14x", b"lo", 0)
    return denied(lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, address))
