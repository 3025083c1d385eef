"""Attacks that need a run of their own: what exhausts, what outlives, what is left for the worker to open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from worker.sandbox.collect import collect
from worker.sandbox.policy import Ended, Limits

Verdict = tuple[bool, str]
Judge = Callable[[Ended, Path], Verdict]


@dataclass(frozen=True)
class Bomb:
    """``source`` is Python run inside; ``judge`` looks at how it ended and at the job folder."""

    attack: str
    source: str
    limits: Limits
    judge: Judge
    alone: bool = False  # judged by the clock, which others beside it would slow


def ends_by(*endings: str) -> Judge:
    def judge(ended: Ended, job_dir: Path) -> Verdict:
        return ended.ending in endings, f"{ended.ending} after {ended.duration_s:.2f} s"

    return judge


def _counts_to(most: int) -> Judge:
    def judge(ended: Ended, job_dir: Path) -> Verdict:
        text = ended.stdout.decode(errors="replace").strip()
        return text.isdigit() and 0 < int(
            text
        ) <= most, f"stopped at {text or ended.ending} of at most {most}"

    return judge


def _cut_at(size: int) -> Judge:
    def judge(ended: Ended, job_dir: Path) -> Verdict:
        got = len(ended.stdout) + len(ended.stderr)
        return ended.ending == "output_limit" and got == size, f"cut at {got} bytes of {size}"

    return judge


def ends_in_time(limit: float) -> Judge:
    def judge(ended: Ended, job_dir: Path) -> Verdict:
        return ended.ending == "timed_out" and ended.duration_s < limit + 2, f"{ended.duration_s:.2f} s"

    return judge


def _collects_only(*names: str) -> Judge:
    def judge(ended: Ended, job_dir: Path) -> Verdict:
        found = [collected.path for collected in collect(job_dir)]
        return ended.exit_code == 0 and found == list(names), f"collected {found}"

    return judge


_FORK = """
import os, time
count = 0
while count < 2000:
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    except OSError:
        break
    count += 1
print(count)
"""
_MEMORY = "held = []\nwhile True: held.append(b'x' * (4 << 20))"
_MEMORY_IN_CHILD = """
import os, time
if os.fork() == 0:
    held = []
    while True: held.append(b'x' * (4 << 20))
os.wait()
time.sleep(0.2)
"""
_MEMORY_FILES = """
import os, time
held = []
try:
    while True:
        held.append(os.memfd_create('x'))
        os.write(held[-1], b'x' * (4 << 20))
except OSError:
    time.sleep(20)
"""
_ON_THEIR_WAY = """
import os, socket, time
ours, theirs = socket.socketpair()
try:
    while True:
        sent = %s
        os.write(sent, b'x' * (4 << 20))
        socket.send_fds(ours, [b'x'], [sent])
        os.close(sent)
except OSError:
    time.sleep(20)
"""
_LET_GO = """
import mmap, time
held = []
for _ in range(64):
    held.append(mmap.mmap(-1, 4 << 20))
    held[-1].write(b'x' * (4 << 20))
    held[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(20)
"""
_DISK = """
import time
for number in range(64):
    with open(f'output/{number}', 'wb') as file: file.write(b'x' * (4 << 20))
time.sleep(20)
"""
_CLOSED = """
import os, time
os.mkdir('output/closed')
held = [open(f'output/closed/{number}', 'wb', buffering=0) for number in range(8)]
os.chmod('output/closed', 0)
for one in held: one.write(b'x' * (4 << 20))
time.sleep(20)
"""
_UNLINKED = """
import os, time
held = []
for number in range(64):
    held.append(open('output/x', 'wb', buffering=0))
    held[-1].write(b'x' * (4 << 20))
    os.unlink('output/x')
time.sleep(20)
"""
_TMP = """
import os, time
with open('/dev/zero', 'rb') as zero:
    for number in range(64):
        with open(f'{os.environ["TMPDIR"]}/{number}', 'wb') as file: file.write(zero.read(4 << 20))
time.sleep(20)
"""
_INODES = """
import os, time
for number in range(5000):
    open(f'%s/{number}', 'w').close()
time.sleep(20)
"""
_DESCRIPTORS = """
import os
count = 0
try:
    while count < 5000:
        os.open('/dev/null', os.O_RDONLY)
        count += 1
except OSError:
    pass
print(count)
"""
_STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
time.sleep(600)
"""
_ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""
_LINKS = """
import os
os.symlink('/etc/passwd', 'output/link')
os.symlink('/', 'output/folder')
os.mkfifo('output/pipe')
open('output/one', 'w').close()
os.link('output/one', 'output/two')
with open('output/good', 'w') as file: file.write('good')
os.chmod('output/good', 0o4777)
"""

_EVERYTHING = """
import os, signal, time
if os.fork() == 0:
    time.sleep(600)
os.kill(-1, signal.SIGKILL)
print(1)
"""
_CHAIN = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
_SPIN = """
import os
for _ in range(8):
    try:
        os.fork()
    except OSError:
        break
while True:
    pass
"""

_SOCKETS = """
import os, socket, time
def fill():
    held = []
    while True:
        try:
            held += (pair := socket.socketpair())
        except OSError:
            return time.sleep(20)
        for end in pair:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(32768))
            except OSError:
                pass
for _ in range(8):
    if os.fork() == 0:
        fill()
time.sleep(20)
"""
SMALL = Limits(timeout_s=10, memory_mb=96, disk_mb=16, files=1000, processes=32, descriptors=64)
ROOMY = Limits(timeout_s=10, memory_mb=400, disk_mb=16, files=1000, processes=32, descriptors=256)
_FULL = "import os\nwhile True: os.write(1, b'x' * 65536); os.write(2, b'y' * 1000)"
BOMBS = (
    Bomb("fork bomb", _FORK, SMALL, _counts_to(32)),
    Bomb("memory bomb", _MEMORY, SMALL, ends_by("memory_limit")),
    Bomb("memory bomb in a child whose parent exits 0", _MEMORY_IN_CHILD, SMALL, ends_by("memory_limit")),
    Bomb("memory bomb of files without a name", _MEMORY_FILES, SMALL, ends_by("memory_limit")),
    Bomb(
        "memory bomb of files that are sent and not received",
        _ON_THEIR_WAY % "os.memfd_create('x')",
        SMALL,
        ends_by("memory_limit", "disk_limit"),
    ),
    Bomb("memory bomb of shared pages that are let go", _LET_GO, SMALL, ends_by("memory_limit")),
    Bomb(
        "memory bomb in the buffers of sockets",
        _SOCKETS,
        replace(ROOMY, memory_mb=128),
        ends_by("memory_limit"),
    ),
    Bomb("disk bomb", _DISK, ROOMY, ends_by("disk_limit")),
    Bomb("disk bomb of deleted files", _UNLINKED, ROOMY, ends_by("disk_limit")),
    Bomb(
        "disk bomb of deleted files that are sent and not received",
        _ON_THEIR_WAY % "os.open('output/x', os.O_RDWR | os.O_CREAT); os.unlink('output/x')",
        ROOMY,
        ends_by("memory_limit", "disk_limit"),
    ),
    Bomb("disk bomb in a closed folder", _CLOSED, ROOMY, ends_by("disk_limit")),
    Bomb("disk bomb in /tmp", _TMP, ROOMY, ends_by("disk_limit", "exited")),
    Bomb("inode bomb in /job", _INODES % "output", ROOMY, ends_by("disk_limit")),
    Bomb("inode bomb in /tmp", _INODES % '{os.environ["TMPDIR"]}', ROOMY, ends_by("disk_limit", "exited")),
    Bomb("output bomb", _FULL, Limits(timeout_s=10, output_bytes=1_000_000), _cut_at(1_000_000)),
    Bomb("descriptor bomb", _DESCRIPTORS, SMALL, _counts_to(64)),
    Bomb(
        "ignore SIGTERM, setsid and fork twice",
        _STUBBORN,
        Limits(timeout_s=0.5),
        ends_in_time(0.5),
        alone=True,
    ),
    Bomb("kill everything it may signal", _EVERYTHING, SMALL, ends_by("exited")),
    Bomb("fork ahead of whoever would kill it", _CHAIN, Limits(timeout_s=1), ends_by("exited", "timed_out")),
    Bomb("spin in as many processes as it gets", _SPIN, Limits(timeout_s=0.5), ends_in_time(0.5), alone=True),
    Bomb("leave a daemon behind", _ORPHAN, Limits(timeout_s=10), ends_by("exited")),
    Bomb("links, pipes and set-uid files among the output", _LINKS, SMALL, _collects_only("good")),
)
