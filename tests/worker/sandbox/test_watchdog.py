"""What no cgroup counts where there is none: the watchdog looks for it."""

from __future__ import annotations

import os

import pytest

from tests.attacks.people import Absent, as_plain_user
from worker.sandbox.limits.limits import Limits

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

_HOLDS_ALONE = """
import sys, tempfile
from pathlib import Path
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import run
inner = '''
import os, sys, time
here = os.environ["TMPDIR"] + "/unreadable"
if sys.argv[0] == "-c" and not os.path.exists(here):
    with open(os.path.realpath(sys.executable), "rb") as program:
        copy = os.open(here, os.O_CREAT | os.O_WRONLY, 0o111)
        while piece := program.read(1 << 20):
            os.write(copy, piece)
        os.close(copy)
    os.execve(here, ["-c", "-I", "-S", "-c", sys.orig_argv[-1]], {**os.environ, "PYTHONHOME": sys.prefix})
file = os.memfd_create("held")
for _ in range(300):
    os.write(file, bytes(1 << 20))
time.sleep(20)
'''
with tempfile.TemporaryDirectory() as folder:
    package, job_dir = Path(folder, "package"), Path(folder, "job")
    package.mkdir()
    (job_dir / "output").mkdir(parents=True)
    Path(folder).chmod(0o755)
    limits = Limits(timeout_s=15, memory_mb=128, disk_mb=400)
    job = Job(("python", "-I", "-S", "-c", inner), package, job_dir, limits=limits)
    ended = run(job, tier=sys.argv[1], site=SandboxSettings(minimum="landlock", use_cgroups=False))
    print(ended.ending, ended.detail, ended.stderr)
"""


def test_who_cannot_be_looked_at_is_ended(tier):
    """A program that its own user may start and not read: a worker that is root sees through it."""
    try:
        done = as_plain_user("-c", _HOLDS_ALONE, tier)
    except Absent as absent:
        pytest.skip(str(absent))
    assert done.stdout.startswith("memory_limit"), done.stdout + done.stderr


_SHARED = """
import mmap, time
held = mmap.mmap(-1, 60 << 20)
held.write(bytes(60 << 20))
time.sleep(0.6)
print("done")
"""
_MAPPED_ALONE = """
import mmap, os, time
held = []
for _ in range(%d):
    file = os.open("output/x", os.O_RDWR | os.O_CREAT)
    os.write(file, b"x" * (2 << 20))
    held.append(mmap.mmap(file, 4096))
    os.close(file)
    os.unlink("output/x")
time.sleep(10)
"""


def test_shared_memory_is_counted_once(go, watched):
    limits = Limits(timeout_s=10, memory_mb=100)
    ended = go("python", "-I", "-S", "-c", _SHARED, limits=limits, site=watched)
    assert ended.stdout == b"done\n", (ended.ending, ended.stderr)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees how large a file is that is mapped alone")
def test_deleted_files_that_a_map_alone_holds_are_weighed(go):
    ended = go("python", "-I", "-S", "-c", _MAPPED_ALONE % 40, limits=Limits(timeout_s=10, disk_mb=16))
    assert ended.ending == "disk_limit", (ended.ending, ended.stderr)


def test_who_maps_more_of_them_than_are_looked_at_is_ended(go):
    ended = go("python", "-I", "-S", "-c", _MAPPED_ALONE % 90, limits=Limits(timeout_s=10, disk_mb=250))
    assert ended.detail == "a process hides its memory", (ended.ending, ended.stderr)
