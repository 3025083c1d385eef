"""Attacks that hide memory, disk or time from a look at processes and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from worker.sandbox.collect import collect
from worker.sandbox.doctor.attacks.bombs import ROOMY, SMALL, Bomb, Verdict, ends_by, ends_in_time
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult


def _bounded(result: SandboxResult, job_dir: Path) -> Verdict:
    """The run hit its memory limit, got no memory at all, or stayed within the limit of its cgroup."""
    counted = result.ending == "exited" and result.enforcement["memory"] == "cgroup"
    refused = result.stdout.strip() == b"refused"
    return counted or refused or result.ending == "memory_limit", f"{result.ending} {result.stdout[:80]!r}"


def _leaves_no_core(result: SandboxResult, job_dir: Path) -> Verdict:
    cores = [path.name for path in job_dir.rglob("*") if "core" in path.name]
    return result.signal == 6 and not cores, f"signal {result.signal}, left {cores}"


def _collects_nothing(result: SandboxResult, job_dir: Path) -> Verdict:
    skipped: list[str] = []
    collected = [file.path for file in collect(job_dir, on_skip=lambda path, reason: skipped.append(reason))]
    return not collected and bool(skipped), f"collected {collected}, skipped: {skipped}"


_TABLES = """
import mmap, time
held = mmap.mmap(-1, 400 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
held.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, len(held), 2 << 20):
    held[place]
time.sleep(20)
"""
_UNACCEPTED = """
import socket, time
try:
    listening = socket.socket(socket.AF_UNIX)
except PermissionError:
    raise SystemExit(print("refused"))
listening.bind("\\0here")
listening.listen(4096)
for _ in range(4000):
    line = socket.socket(socket.AF_UNIX)
    line.connect("\\0here")
    line.setblocking(False)
    try:
        while True:
            line.send(bytes(32768))
    except BlockingIOError:
        line.close()
time.sleep(20)
"""
_PIPES = """
import os, time
def fill():
    try:
        while True:
            _reading, writing = os.pipe()
            os.set_blocking(writing, False)
            try:
                while True:
                    os.write(writing, bytes(4096))
            except BlockingIOError:
                pass
    except OSError:
        time.sleep(3)
for _ in range(28):
    if os.fork() == 0:
        fill()
        os._exit(0)
time.sleep(4)
"""
_TERMINALS = """
import os, time, tty
try:
    os.openpty()
except PermissionError:
    raise SystemExit(print("refused"))
def fill():
    try:
        while True:
            ends = os.openpty()
            tty.setraw(ends[1])
            for end in ends:
                os.set_blocking(end, False)
                try:
                    while True:
                        os.write(end, bytes(4096))
                except BlockingIOError:
                    pass
    except OSError:
        time.sleep(3)
for _ in range(14):
    if os.fork() == 0:
        fill()
        os._exit(0)
time.sleep(4)
"""
_MOVING = """
import os, time
if os.fork():
    time.sleep(20)
held = bytearray(b"x") * (160 << 20)
while True:
    if os.fork():
        os._exit(0)
"""
_LENT = """
import ctypes, mmap, os, time
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(60):
    _reading, writing = os.pipe()
    lent = mmap.mmap(-1, 34 << 20)
    lent.madvise(mmap.MADV_HUGEPAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(lent))
    first = -address % (2 << 20)
    for place in range(first, first + (32 << 20), 2 << 20):
        lent[place] = 1
        piece = (ctypes.c_size_t * 2)(address + place, 4096)
        if libc.vmsplice(writing, piece, ctypes.c_size_t(1), 0) < 0:
            raise SystemExit(print("refused"))
    libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(34 << 20))
time.sleep(20)
"""
_DEEP = """
import os, time
os.chdir("output")
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(12):
    with open(str(number), "wb") as file: file.write(bytes(4 << 20))
time.sleep(20)
"""
_SPARSE = """
import os
for number in range(64):
    with open(f"output/{number}", "wb") as file: os.truncate(file.fileno(), (16 << 20) - 1)
for number in range(2, 64):
    os.unlink(f"output/{number}")
os.mkdir("output/line\\nbreak")
os.rename("output/0", "output/line\\nbreak/0")
os.rename("output/1", b"output/\\xff\\xfe")
"""
_CORE = """
import os, resource
for kind in (resource.RLIM_INFINITY, 1 << 20):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (kind, kind))
    except (OSError, ValueError):
        pass
os.chdir("output")
os.abort()
"""
_STOPPED = """
import os, signal
if os.fork() == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(-1, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
"""
_SILENT = "import os, time\nos.closerange(0, 100)\ntime.sleep(60)"
HOARDS = (
    Bomb("memory bomb of page tables", _TABLES, SMALL, ends_by("memory_limit")),
    Bomb("memory bomb of connections that are never accepted", _UNACCEPTED, SMALL, _bounded),
    Bomb("memory bomb in pipes", _PIPES, replace(ROOMY, memory_mb=128), _bounded),
    Bomb("memory bomb in terminals", _TERMINALS, replace(ROOMY, memory_mb=128), _bounded),
    Bomb("memory bomb that moves from process to process", _MOVING, SMALL, ends_by("memory_limit")),
    Bomb("memory bomb of huge pages lent to pipes", _LENT, SMALL, _bounded),
    Bomb("disk bomb below paths that are too long", _DEEP, ROOMY, ends_by("disk_limit")),
    Bomb("return sparse files and odd names as output", _SPARSE, SMALL, _collects_nothing),
    Bomb("leave a core dump behind", _CORE, SMALL, _leaves_no_core),
    Bomb(
        "stop itself and every process that it can signal",
        _STOPPED,
        Limits(timeout_s=0.5),
        ends_in_time(0.5),
        alone=True,
    ),
    Bomb(
        "close every stream and keep running", _SILENT, Limits(timeout_s=0.5), ends_in_time(0.5), alone=True
    ),
)
