"""Tier ``landlock``: Landlock, a stricter seccomp filter and limits, for machines without user namespaces.

init process ── fork ──► guard process (can signal only the run) ── fork ──► script (can access listed paths)

Guard and script are Landlock domains; the script's is inside the guard's. The guard's ``kill(-1)`` affects
only the run's processes, however they fork. No process of the run can signal the guard.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
from contextlib import suppress
from typing import Any

from . import kernel, nsrun

MIN_ABI = 6
_MISSING = {
    1: "it can't allow moving files between folders and can't restrict truncating",
    2: "it can't restrict truncating",
    3: "it can't restrict TCP",
    4: "it can't restrict ioctl on devices",
    5: "it can't restrict signals and abstract sockets",
}
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_SIGNALS_AND_SOCKETS = 3
_TCP = 3
_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 2, 4, 8
_MAKE_DEVICES = 1 << 6 | 1 << 11
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ALL_RIGHTS = (1 << 16) - 1
_FILE_RIGHTS = _EXECUTE | _WRITE | _READ | _TRUNCATE
_RIGHTS = {
    "read": _READ | _READ_DIR | _EXECUTE,
    "look": _READ | _READ_DIR,
    "write": _ALL_RIGHTS & ~_MAKE_DEVICES & ~(1 << 15),
    "device": _READ | _WRITE,
}
# The readable entries of the script's own process in /proc. They exclude net/, which shows the machine's
# network.
_OWN_PROC_FILES = (
    *("maps", "smaps", "status", "stat", "statm", "cmdline"),
    *("comm", "limits", "auxv", "fd", "fdinfo"),
)
_libc = ctypes.CDLL(None, use_errno=True)


def enter(plan: dict[str, Any], status: int, proxy_fd: int | None = None) -> None:
    """Starts the script and turns this process into its guard process; never returns.

    Raises OSError before the start if this kernel's Landlock is not sufficient.
    """
    init_pid = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    kernel.die_with(init_pid, signal.SIGTERM)
    kernel.adopt_orphans()
    kernel.no_new_privileges()
    require_abi()
    _restrict_signals()
    _require_bounded_signals(init_pid)
    os.setsid()
    limits = dict(plan["limits"])
    limits["processes"] += _count_tasks(os.getuid(), own_namespace=plan["own_namespace"])
    script = os.fork()
    if script == 0:
        _script(plan, limits, proxy_fd)
    kernel.set_dumpable(False)
    nsrun.write_line(status, {"child-pid": os.getpid()})
    nsrun.close_all_but(status)
    _guard(script, status)
    _kill_all()
    os._exit(0)


def require_abi() -> None:
    """Raises OSError if this kernel's Landlock is missing or too old. The message names the missing
    features.
    """
    found = _libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if found < 1:
        raise OSError(ctypes.get_errno(), "Landlock is missing from this kernel or disabled")
    if found < MIN_ABI:
        missing = "; ".join(_MISSING[version] for version in range(found, MIN_ABI))
        raise OSError(f"Landlock version is {found}, but {MIN_ABI} is required (Linux 6.12): {missing}")


def _require_bounded_signals(init_pid: int) -> None:
    """Raises OSError unless the kernel refuses a signal to the init process, because only then is
    ``kill(-1)`` safe.
    """
    try:
        os.kill(init_pid, 0)
    except PermissionError:
        return
    raise OSError("Landlock does not restrict signals on this machine")


def _count_tasks(uid: int, *, own_namespace: bool) -> int:
    """The number of threads that count against the process limit before the script starts.

    These are all threads of this user; if the run has its own user namespace, only those inside it.
    """
    found, own = 0, os.readlink("/proc/self/ns/user")
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if not name.isdigit() or os.stat(f"/proc/{name}").st_uid != uid:
                continue
            if not own_namespace or os.readlink(f"/proc/{name}/ns/user") == own:
                found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _script(plan: dict[str, Any], limits: dict[str, int], proxy_fd: int | None) -> None:
    try:
        kernel.die_with(os.getppid())
        os.setsid()
        os.chdir(plan["cwd"])
        kernel.drop_capabilities()
        _confine(plan["paths"])
        nsrun.set_limits(limits)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGCHLD})
        program = plan["seccomp"].encode("latin-1")
        if proxy_fd is None:
            kernel.filter_calls(program)
        else:
            _filter_notifying(program, proxy_fd)
        nsrun.become(plan)
    except BaseException as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(126)


def _filter_notifying(program: bytes, proxy_fd: int) -> None:
    """Installs the filter and passes its notification descriptor to the worker; closes both descriptors."""
    with socket.socket(fileno=proxy_fd) as proxy_socket:
        notify_fd = kernel.filter_calls_notifying(program)
        socket.send_fds(proxy_socket, [b"a"], [notify_fd])
        os.close(notify_fd)


def _restrict_signals() -> None:
    """Restricts signals and abstract sockets to this domain.

    Also permits moving files between folders, which every domain denies by default.
    """
    ruleset = _ruleset(_REFER, 0)
    _allow(ruleset, "/", _REFER)
    _restrict(ruleset)


def _confine(paths: list[list[str]]) -> None:
    ruleset = _ruleset(_ALL_RIGHTS, _TCP)
    own = [["look", f"/proc/self/{name}"] for name in _OWN_PROC_FILES]
    for kind, path in [*paths, *own]:
        with suppress(FileNotFoundError):
            _allow(ruleset, path, _RIGHTS[kind] & (_ALL_RIGHTS if os.path.isdir(path) else _FILE_RIGHTS))
    _restrict(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", rights, folder)
    result = _libc.syscall(
        ctypes.c_long(_ADD), ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0)
    )
    _check(result, f"landlock rule for {path}")
    os.close(folder)


def _ruleset(files: int, network: int) -> int:
    attributes = struct.pack("=QQQ", files, network, _SIGNALS_AND_SOCKETS)
    ruleset = _libc.syscall(
        ctypes.c_long(_CREATE), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    _check(ruleset, "landlock ruleset")
    return int(ruleset)


def _restrict(ruleset: int) -> None:
    _check(_libc.syscall(ctypes.c_long(_RESTRICT), ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock")
    os.close(ruleset)


def _check(result: int, call: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def _guard(script: int, status: int) -> None:
    """Reaps processes until the script ends, and writes its exit to ``status``; also returns on SIGTERM.

    SIGTERM comes from the init process, or from the kernel if the init process ends.
    """
    while True:
        if signal.sigwait({signal.SIGTERM, signal.SIGCHLD}) == signal.SIGTERM:
            return
        for pid, ended in _reap():
            if pid == script:
                nsrun.report_exit(status, ended)
                return


def _reap() -> list[tuple[int, int]]:
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    return found


def _kill_all() -> None:
    """Kills all processes that this process may signal, which are those of the run; returns when none is
    left.
    """
    while True:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
