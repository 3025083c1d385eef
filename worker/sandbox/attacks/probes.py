"""Run inside a sandbox: tries one attack after another and prints a JSON line for each.

A probe returns what stopped it; it raises ``Escaped`` where nothing did. What it needs to know of the host (a
listening port, the worker's number, paths, system call numbers) arrives as JSON on stdin.
"""

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
import sys
from collections.abc import Callable
from typing import Any

HOST: dict[str, Any] = {}
PROBES: dict[str, Callable[[], str]] = {}
_libc = ctypes.CDLL(None, use_errno=True)


class Escaped(Exception):
    """The attack did what it should not have been able to do."""


def probe(attack: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    def note(function: Callable[[], str]) -> Callable[[], str]:
        PROBES[attack] = function
        return function

    return note


def call(name: str, *arguments: Any) -> str:
    """A system call that must be denied by the filter or not exist."""
    number = HOST["numbers"].get(name)
    if number is None:
        return "the architecture has no such call"
    ctypes.set_errno(0)
    done = _libc.syscall(ctypes.c_long(number), *(arguments or [ctypes.c_long(0)] * 6))
    failed = ctypes.get_errno()
    if done >= 0 or failed not in (errno.EPERM, errno.ENOSYS):
        raise Escaped(f"{name}: returned {done}, {errno.errorcode.get(failed, failed)}")
    return f"{name}: {errno.errorcode[failed]}"


def denied(action: Callable[[], object]) -> str:
    try:
        action()
    except (OSError, ValueError) as error:
        return str(error)
    raise Escaped("it was allowed")


def unreadable(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, "rb") as file:
                if file.read(1):
                    raise Escaped(f"{path} was read")
        except OSError:
            continue
    return "absent or refused: " + ", ".join(paths)


def in_child(action: Callable[[], object]) -> int:
    """The wait status of a child that does it."""
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


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


def _unwritable(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, "w"):
                raise Escaped(f"{path} was opened for writing")
        except OSError:
            continue
    return "refused: " + ", ".join(paths)


@probe("write outside /job")
def _write_outside() -> str:
    return _unwritable(
        "/skill/x", "/usr/x", "/etc/x", "/x", "/dev/x", "/runtimes/x", "/etc/passwd", "/bin/sh"
    )


@probe("write into the inputs")
def _write_inputs() -> str:
    return _unwritable("/job/input/x")


@probe("set core pattern, sysrq and kernel settings")
def _settings() -> str:
    return _unwritable(
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/hostname",
    )


@probe("write into the memory of the first process")
def _memory_of_first() -> str:
    return _unwritable("/proc/1/mem", "/proc/1/task/1/mem", "/proc/1/oom_score_adj")


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


def _calls(attack: str, *names: str) -> None:
    probe(attack)(lambda: "; ".join(call(name) for name in names))


_calls("mount", "mount", "umount2", "open_tree", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr")
_calls("change the root", "chroot", "pivot_root")
_calls("enter or make namespaces", "setns", "unshare")
_calls("the kernel's key rings", "keyctl", "add_key", "request_key")
_calls("bpf", "bpf")
_calls("userfaultfd", "userfaultfd")
_calls("performance counters", "perf_event_open")
_calls("io_uring", "io_uring_setup", "io_uring_enter", "io_uring_register")
_calls(
    "load modules or another kernel", "init_module", "finit_module", "delete_module", "kexec_load", "reboot"
)
_calls("open files by handle", "open_by_handle_at", "name_to_handle_at")
_calls("swap, quota, accounting, kernel log", "swapon", "swapoff", "quotactl", "acct", "syslog")
_calls("set the clock or the host's name", "settimeofday", "clock_settime", "sethostname", "setdomainname")
_calls("move memory between nodes", "move_pages", "mbind", "migrate_pages", "set_mempolicy")
_calls("memory that no process owns", "shmget", "msgget")
_calls("watch every file, hang up the terminal", "fanotify_init", "vhangup")


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
    return _killed(lambda: _libc.syscall(ctypes.c_long(0x4000_0000 + 39)))


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


def _no_socket(attack: str, *arguments: int) -> None:
    probe(attack)(lambda: denied(lambda: socket.socket(*arguments).close()))


_no_socket("raw sockets", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
_no_socket("packet sockets", 17, socket.SOCK_RAW)
_no_socket("vsock", 40, socket.SOCK_STREAM)
_no_socket("netlink", 16, socket.SOCK_RAW)


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


# what shares the machine with the run


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
    import resource

    worker = HOST["worker"]
    return "; ".join(
        denied(action)
        for action in (
            lambda: resource.prlimit(worker, resource.RLIMIT_NOFILE, (0, 0)),
            lambda: os.sched_setaffinity(worker, {0}),
            lambda: os.setpriority(os.PRIO_PROCESS, worker, 19),
            lambda: os.sched_setscheduler(worker, os.SCHED_BATCH, os.sched_param(0)),
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
    for action in (
        lambda: os.truncate(path, 0),
        lambda: os.rename(path, path + "x"),
        lambda: os.rename(path, "output/taken"),
        lambda: os.unlink(path),
        lambda: os.rmdir(os.path.dirname(path)),
    ):
        denied(action)
    return "all refused"


@probe("change modes, times and owners of another run's file")
def _modes() -> str:
    path = HOST["other_run"]
    for action in (
        lambda: os.chmod(path, 0),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.mark", b"1"),
        lambda: os.chown(path, os.getuid(), os.getgid()),
    ):
        try:
            action()
        except OSError:
            continue
    return "the worker finds it as it was"  # which ``tried`` looks at


@probe("watch folders of the host")
def _watch() -> str:
    watcher = _libc.inotify_init1(0)
    if _libc.inotify_add_watch(watcher, os.path.dirname(HOST["other_run"]).encode(), 0xFFF) >= 0:
        raise Escaped("it is told of every file there")
    return "refused"


@probe("use semaphores, queues and shared memory of others")
def _system_v() -> str:
    for name in ("semget", "msgget", "shmget"):
        arguments = (HOST["ipc_key"], 0) if name == "msgget" else (HOST["ipc_key"], 0, 0)
        if getattr(_libc, name)(*arguments) >= 0:
            raise Escaped(f"{name} found the host's")
    return "none of them is found"


@probe("raise its own limits")
def _raise() -> str:
    import resource

    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)
    most = resource.RLIM_INFINITY
    return "; ".join(denied(lambda kind=kind: resource.setrlimit(kind, (most, most))) for kind in kinds)


@probe("raise the limits of its own cgroup")
def _cgroup() -> str:
    names = ("memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cgroup.procs", "tasks")
    return _unwritable(*(f"{folder}/{name}" for folder in HOST["groups"] for name in names), "/sys/x")


@probe("reach devices of the machine")
def _devices() -> str:
    names = ("sda", "vda", "kvm", "fuse", "net/tun", "mem", "port", "vsock", "loop-control", "snapshot")
    return unreadable(*(f"/dev/{name}" for name in names))


@probe("switch off address randomisation")
def _personality() -> str:
    return call("personality", 0x0004_0000)


_calls("lend its processes to others, or take theirs", "process_madvise", "process_mrelease", "pidfd_getfd")
_calls("list and describe mounts", "statmount", "listmount", "open_tree_attr", "quotactl_fd")
_calls("obsolete doors", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl", "lookup_dcookie")
_calls("ports and segments of the processor", "iopl", "ioperm", "modify_ldt")
_no_socket("sockets of the kernel's cryptography", 38, socket.SOCK_SEQPACKET)
_no_socket("sockets of keys, cars and clusters", 29, socket.SOCK_RAW, 1)
_no_socket("sockets that see every packet (XDP)", 44, socket.SOCK_RAW)


@probe("share memory with others through /dev/shm")
def _shared_memory() -> str:
    if os.path.exists("/dev/shm/" + HOST["abstract"]):
        return unreadable("/dev/shm/" + HOST["abstract"])
    return "what the worker put there is not seen"


def main() -> None:
    HOST.update(json.loads(sys.stdin.read()))
    for attack, function in PROBES.items():
        try:
            passed, detail = True, function()
        except Escaped as error:
            passed, detail = False, str(error)
        except Exception as error:
            passed, detail = False, f"the probe itself failed: {error!r}"
        sys.stdout.write(json.dumps({"attack": attack, "passed": passed, "detail": detail}) + "\n")
        sys.stdout.flush()  # a later probe may end this process


if __name__ == "__main__":
    main()
