"""Attacks that each need their own run: exhausted resources, surviving processes, hostile output files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.collect import collect
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult

Verdict = tuple[bool, str]
Judge = Callable[[SandboxResult, Path], Verdict]
SMALL = Limits(timeout_s=10, memory_mb=96, disk_mb=16, files=1000, processes=32, descriptors=64)
ROOMY = Limits(timeout_s=10, memory_mb=400, disk_mb=16, files=1000, processes=32, descriptors=256)


@dataclass(frozen=True)
class Bomb:
    """An attack that needs its own run. ``source`` is Python code for the sandbox; ``judge`` checks the run's
    result.
    """

    attack: str
    source: str
    limits: Limits
    judge: Judge
    alone: bool = False  # True if the duration is judged, which concurrent bombs would extend


def ends_by(*endings: str) -> Judge:
    def judge(result: SandboxResult, job_dir: Path) -> Verdict:
        return result.ending in endings, f"{result.ending} after {result.duration_s:.2f} s"

    return judge


def ends_in_time(limit: float) -> Judge:
    def judge(result: SandboxResult, job_dir: Path) -> Verdict:
        in_time = result.ending == "timed_out" and result.duration_s < limit + 2
        return in_time, f"{result.duration_s:.2f} s"

    return judge


def _counts_to(maximum: int) -> Judge:
    def judge(result: SandboxResult, job_dir: Path) -> Verdict:
        text = result.stdout.decode(errors="replace").strip()
        within = text.isdigit() and 0 < int(text) <= maximum
        return within, f"stopped at {text or result.ending} of at most {maximum}"

    return judge


def _cut_at(size: int) -> Judge:
    def judge(result: SandboxResult, job_dir: Path) -> Verdict:
        length = len(result.stdout) + len(result.stderr)
        return result.ending == "output_limit" and length == size, f"cut at {length} bytes of {size}"

    return judge


def _collects_only(*names: str) -> Judge:
    def judge(result: SandboxResult, job_dir: Path) -> Verdict:
        collected = [file.path for file in collect(job_dir)]
        return result.exit_code == 0 and collected == list(names), f"collected {collected}"

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
_DISK = """
import time
for number in range(64):
    with open(f'output/{number}', 'wb') as file: file.write(b'x' * (4 << 20))
time.sleep(20)
"""
INODES = """
import os, time
for number in range(5000):
    open(f'%s/{number}', 'w').close()
time.sleep(20)
"""
_OUTPUT = "import os\nwhile True: os.write(1, b'x' * 65536); os.write(2, b'y' * 1000)"
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
BOMBS = (
    Bomb("fork bomb", _FORK, SMALL, _counts_to(32)),
    Bomb("memory bomb", _MEMORY, SMALL, ends_by("memory_limit")),
    Bomb("disk bomb", _DISK, ROOMY, ends_by("disk_limit")),
    Bomb("inode bomb in /job", INODES % "output", ROOMY, ends_by("disk_limit")),
    Bomb("output bomb", _OUTPUT, Limits(timeout_s=10, output_bytes=1_000_000), _cut_at(1_000_000)),
    Bomb("descriptor bomb", _DESCRIPTORS, SMALL, _counts_to(64)),
    Bomb(
        "ignore SIGTERM and leave a daemon behind",
        _STUBBORN,
        Limits(timeout_s=0.5),
        ends_in_time(0.5),
        alone=True,
    ),
    Bomb("return links, pipes and set-uid files as output", _LINKS, SMALL, _collects_only("good")),
)
