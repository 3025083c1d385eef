"""Wraps system calls that Python 3.11 lacks; each raises OSError with the kernel's message."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE, MS_SLAVE = 16384, 1 << 18, 1 << 19
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 4, 22, 24
_PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 36, 38, 47
_SECCOMP_MODE_FILTER = 2
_MACHINE = os.uname().machine
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_MOUNT_SETATTR = 442
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100


def _check(result: int, call: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def map_own_user() -> None:
    """Moves to a new user namespace that maps only this user and group to the same ids, with all
    capabilities.
    """
    uid, gid = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def join_namespace(descriptor: int, kind: int) -> None:
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    arguments = [os.fsencode(text) or None for text in (source, target, kind)]
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options) or None)
    _check(result, f"mount {kind or source} on {target}")


def bind(source: str, target: str, *, read_only: bool) -> None:
    """Bind-mounts ``source`` with its submounts; disables set-uid programs and devices in them."""
    mount(source, target, flags=MS_BIND | MS_REC)
    restrict(target, ATTR_NOSUID | ATTR_NODEV | (ATTR_RDONLY if read_only else 0))


def restrict(target: str, attributes: int) -> None:
    """Sets mount attributes on the whole tree below ``target`` (mount_setattr, kernel 5.12)."""
    attributes_struct = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attributes_struct),
        ctypes.c_size_t(ctypes.sizeof(attributes_struct)),
    )
    _check(result, f"mount_setattr {target}")


def pivot_root(new: str, old: str) -> None:
    result = _libc.syscall(ctypes.c_long(_PIVOT_ROOT[_MACHINE]), os.fsencode(new), os.fsencode(old))
    _check(result, "pivot_root")


def unmount(target: str) -> None:
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def _prctl(option: int, *arguments: int) -> None:
    values = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    _check(_libc.prctl(option, *values), f"prctl {option}")


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Makes the kernel send the signal ``by`` to this process when its parent ends.

    Kills this process at once if ``parent`` has already ended.
    """
    _prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    _prctl(_PR_SET_SUBREAPER, 1)


def set_dumpable(allowed: bool) -> None:
    _prctl(_PR_SET_DUMPABLE, int(allowed))


def no_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Empties every capability set: bounding, ambient, effective, permitted, inheritable."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), *[ctypes.c_ulong(0)] * 3) < 0:
            break
    _prctl(_PR_CAP_AMBIENT, 4)
    header = (ctypes.c_uint32 * 2)(0x2008_0522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")


def filter_calls(program: bytes) -> None:
    """Installs a seccomp program, an array of ``struct sock_filter``, for this thread and its children."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    handle = Program(len(program) // 8, program)
    _check(
        _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(handle), 0, 0),
        "seccomp",
    )


def filter_calls_notifying(program: bytes) -> int:
    """Installs the program like ``filter_calls``; returns the descriptor that delivers notifications."""
    content = ctypes.create_string_buffer(program, len(program))
    handle = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(content))
    listener = _libc.syscall(ctypes.c_long(_SECCOMP[_MACHINE]), ctypes.c_uint(1), ctypes.c_uint(8), handle)
    _check(listener, "seccomp")
    return int(listener)


def rename_command_line(name: str) -> None:
    """Overwrites this process's command line in /proc with ``name``, cut to the space available."""
    with open("/proc/self/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, name.encode(), min(len(name), end - start - 1))
