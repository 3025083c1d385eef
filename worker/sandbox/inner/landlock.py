"""Tier C: Landlock, a stricter filter and limits, where no namespace may be made.

keeper ── fork ──► warden (may signal the run alone) ── fork ──► script (may reach what is listed)

Both are Landlock domains, the script's within the warden's: so ``kill(-1)`` of the warden is felt by the
run's processes alone, however they fork, and no process of the run can touch the warden.
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

LEAST_ABI = 6
_LACKS = {
    1: "moving files between folders cannot be allowed, truncating not be held",
    2: "truncating cannot be held",
    3: "TCP cannot be held",
    4: "what devices are told cannot be held",
    5: "signals and abstract sockets cannot be held",
}
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_SIGNALS_AND_SOCKETS = 3
_TCP = 3
_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 2, 4, 8
_MAKE_DEVICES = 1 << 6 | 1 << 11
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_EVERY = (1 << 16) - 1
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE
_RIGHTS = {
    "read": _READ | _READ_DIR | _EXECUTE,
    "look": _READ | _READ_DIR,
    "write": _EVERY & ~_MAKE_DEVICES & ~(1 << 15),
    "device": _READ | _WRITE,
}
# Of /proc the script's own process alone, and not its net/, which is the machine's.
_OF_ITSELF = ("maps", "smaps", "status", "stat", "statm", "cmdline", "comm", "limits", "auxv", "fd", "fdinfo")
_libc = ctypes.CDLL(None, use_errno=True)


def enter(plan: dict[str, Any], status: int, way_out: int | None = None) -> None:
    """Becomes the warden of a script that it starts; never returns."""
    keeper = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    kernel.die_with(keeper, signal.SIGTERM)
    kernel.adopt_orphans()
    kernel.no_new_privileges()
    require_abi()
    _restrict_signals()
    _prove_bounds(keeper)
    os.setsid()
    limits = dict(plan["limits"])
    limits["processes"] += _tasks_of(os.getuid())
    script = os.fork()
    if script == 0:
        _script(plan, limits, way_out)
    kernel.set_dumpable(False)
    nsrun.line(status, {"child-pid": os.getpid()})
    nsrun.close_all_but(status)
    _guard(script, status)
    _end_all()
    os._exit(0)


def require_abi() -> None:
    """OSError, with what this kernel's Landlock lacks, below the version that this tier needs."""
    found = _libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if found < 1:
        raise OSError(ctypes.get_errno(), "Landlock is not in this kernel, or not switched on")
    if found < LEAST_ABI:
        lacks = "; ".join(_LACKS[version] for version in range(found, LEAST_ABI))
        raise OSError(f"Landlock is of version {found}, and {LEAST_ABI} is needed (Linux 6.12): {lacks}")


def _prove_bounds(keeper: int) -> None:
    """``kill(-1)`` is safe only where a signal to the keeper, which is outside, is refused."""
    try:
        os.kill(keeper, 0)
    except PermissionError:
        return
    raise OSError("Landlock does not hold signals on this machine")


def _tasks_of(uid: int) -> int:
    """Threads and processes of this user, which the limit on processes counts along."""
    found = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _script(plan: dict[str, Any], limits: dict[str, int], way_out: int | None) -> None:
    try:
        kernel.die_with(os.getppid())
        os.setsid()
        os.chdir(plan["cwd"])
        kernel.drop_capabilities()
        _confine(plan["paths"])
        nsrun.limit(limits)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGCHLD})
        program = plan["seccomp"].encode("latin-1")
        if way_out is None:
            kernel.filter_calls(program)
        else:
            _filter_asking(program, way_out)
        nsrun.become(plan)
    except BaseException as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(126)


def _filter_asking(program: bytes, way_out: int) -> None:
    """Hands to the worker what the filter asks with, and keeps neither."""
    with socket.socket(fileno=way_out) as gate:
        asking = kernel.filter_calls_asking(program)
        socket.send_fds(gate, [b"a"], [asking])
        os.close(asking)


def _restrict_signals() -> None:
    """To move files between folders a domain forbids even where it says nothing of files: it is allowed."""
    ruleset = _ruleset(_REFER, 0)
    _allow(ruleset, "/", _REFER)
    _restrict(ruleset)


def _confine(paths: list[list[str]]) -> None:
    ruleset = _ruleset(_EVERY, _TCP)
    own = [["look", f"/proc/self/{name}"] for name in _OF_ITSELF]
    for kind, path in [*paths, *own]:
        with suppress(FileNotFoundError):
            _allow(ruleset, path, _RIGHTS[kind] & (_EVERY if os.path.isdir(path) else _OF_FILES))
    _restrict(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", rights, place)
    done = _libc.syscall(
        ctypes.c_long(_ADD), ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0)
    )
    _checked(done, f"landlock rule for {path}")
    os.close(place)


def _ruleset(files: int, network: int) -> int:
    wanted = struct.pack("=QQQ", files, network, _SIGNALS_AND_SOCKETS)
    made = _libc.syscall(ctypes.c_long(_CREATE), wanted, ctypes.c_size_t(len(wanted)), ctypes.c_uint32(0))
    _checked(made, "landlock ruleset")
    return int(made)


def _restrict(ruleset: int) -> None:
    _checked(_libc.syscall(ctypes.c_long(_RESTRICT), ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock")
    os.close(ruleset)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _guard(script: int, status: int) -> None:
    """Reaps until the script has ended, or the keeper says (or shows by its end) that it shall."""
    while True:
        if signal.sigwait({signal.SIGTERM, signal.SIGCHLD}) == signal.SIGTERM:
            return
        for pid, ended in _reaped():
            if pid == script:
                nsrun.report(status, ended)
                return


def _reaped() -> list[tuple[int, int]]:
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    return found


def _end_all() -> None:
    """Kills whatever this process may signal, which is the run, until none of it is left."""
    while True:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
