"""Attacks by single calls that the seccomp filter denies."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal

from worker.sandbox.doctor.attacks.inside import HOST, LIBC, Escaped, ProbeSet, call, in_child

PROBES = ProbeSet()
_CLONE_VM, _CLONE_SIGHAND, _CLONE_THREAD = 0x100, 0x800, 0x1_0000
_PR_FUTEX_HASH = 78

PROBES.add_calls("use userfaultfd", "userfaultfd")
PROBES.add_calls("use performance counters", "perf_event_open")
PROBES.add_calls("change swap, quota and accounting", "swapon", "swapoff", "quotactl", "acct", "syslog")
PROBES.add_calls(
    "set the clock or the host's name", "settimeofday", "clock_settime", "sethostname", "setdomainname"
)
PROBES.add_calls("move memory between nodes", "move_pages", "mbind", "migrate_pages", "set_mempolicy")
PROBES.add_calls("use up the machine's asynchronous requests", "io_setup")
PROBES.add_calls("allocate memory that no process owns", "shmget", "msgget", "semget")
PROBES.add_calls("watch every file, hang up the terminal", "fanotify_init", "vhangup")


@PROBES.add("make itself undumpable")
def _undumpable() -> str:
    return call("prctl", *[ctypes.c_long(value) for value in (4, 0, 0, 0, 0, 0)])


@PROBES.add("clone3")
def _clone3() -> str:
    return call("clone3")


@PROBES.add("32-bit system calls (int 0x80)")
def _int80() -> str:
    if os.uname().machine != "x86_64":
        return "missing on this architecture"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    status = in_child(ctypes.CFUNCTYPE(ctypes.c_int)(address))
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGSYS:
        raise Escaped(f"wait status {status}")
    return "killed by SIGSYS"


@PROBES.add("give a thread descriptors of its own")
def _own_descriptors() -> str:
    def start() -> None:
        ctypes.set_errno(0)
        flags = _CLONE_VM | _CLONE_SIGHAND | _CLONE_THREAD
        LIBC.syscall(ctypes.c_long(HOST["numbers"]["clone"]), ctypes.c_long(flags), *[ctypes.c_long(0)] * 4)
        os._exit(0 if ctypes.get_errno() == errno.EPERM else 1)

    if in_child(start):
        raise Escaped("the thread was started")
    return "denied"


@PROBES.add("enlarge the kernel's futex table of a process")
def _futex_table() -> str:
    if LIBC.prctl(_PR_FUTEX_HASH, 1, 1 << 16, 0, 0) == 0:
        raise Escaped("the kernel allocated it")
    return os.strerror(ctypes.get_errno())
