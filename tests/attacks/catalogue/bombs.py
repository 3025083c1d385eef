"""More attacks that need a run each: exhausting memory and disk, and outliving the run."""

from __future__ import annotations

from dataclasses import replace

from worker.sandbox.doctor.attacks.bombs import INODES, ROOMY, SMALL, Bomb, ends_by, ends_in_time
from worker.sandbox.limits.limits import Limits

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
_IN_FLIGHT = """
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
_RELEASED = """
import mmap, time
held = []
for _ in range(64):
    held.append(mmap.mmap(-1, 4 << 20))
    held[-1].write(b'x' * (4 << 20))
    held[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(20)
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
_UNLINKED = """
import os, time
held = []
for number in range(64):
    held.append(open('output/x', 'wb', buffering=0))
    held[-1].write(b'x' * (4 << 20))
    os.unlink('output/x')
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
_TMP = """
import os, time
with open('/dev/zero', 'rb') as zero:
    for number in range(64):
        with open(f'{os.environ["TMPDIR"]}/{number}', 'wb') as file: file.write(zero.read(4 << 20))
time.sleep(20)
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
_ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""
MORE_BOMBS = (
    Bomb(
        "memory bomb in a child whose parent exits with 0", _MEMORY_IN_CHILD, SMALL, ends_by("memory_limit")
    ),
    Bomb("memory bomb of deleted files", _MEMORY_FILES, SMALL, ends_by("memory_limit")),
    Bomb(
        "memory bomb of files sent but never received",
        _IN_FLIGHT % "os.memfd_create('x')",
        SMALL,
        ends_by("memory_limit", "disk_limit"),
    ),
    Bomb("memory bomb of released shared pages", _RELEASED, SMALL, ends_by("memory_limit")),
    Bomb("memory bomb in socket buffers", _SOCKETS, replace(ROOMY, memory_mb=128), ends_by("memory_limit")),
    Bomb("disk bomb of deleted files", _UNLINKED, ROOMY, ends_by("disk_limit")),
    Bomb(
        "disk bomb of deleted files sent but never received",
        _IN_FLIGHT % "os.open('output/x', os.O_RDWR | os.O_CREAT); os.unlink('output/x')",
        ROOMY,
        ends_by("memory_limit", "disk_limit"),
    ),
    Bomb("disk bomb in an unreadable folder", _CLOSED, ROOMY, ends_by("disk_limit")),
    Bomb("disk bomb in /tmp", _TMP, ROOMY, ends_by("disk_limit", "exited")),
    Bomb("inode bomb in /tmp", INODES % '{os.environ["TMPDIR"]}', ROOMY, ends_by("disk_limit", "exited")),
    Bomb("kill every process that it can signal", _EVERYTHING, SMALL, ends_by("exited")),
    Bomb("fork faster than it can be killed", _CHAIN, Limits(timeout_s=1), ends_by("exited", "timed_out")),
    Bomb(
        "spin in as many processes as possible", _SPIN, Limits(timeout_s=0.5), ends_in_time(0.5), alone=True
    ),
    Bomb("leave a daemon behind after a normal exit", _ORPHAN, Limits(timeout_s=10), ends_by("exited")),
)
