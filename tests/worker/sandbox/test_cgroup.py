"""What a run's cgroup holds, live where this machine lets one be made, and by its files for both versions."""

from __future__ import annotations

import os

import pytest

from worker.sandbox.limits import cgroup
from worker.sandbox.limits.cgroup import CgroupFolder, CgroupLimits
from worker.sandbox.limits.limits import Limits
from worker.sandbox.site_settings import SandboxSettings

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

PYTHON = ("python", "-I", "-S", "-c")
FORKS = """
import os, time
made = 0
try:
    for _ in range(100):
        if os.fork() == 0: time.sleep(30)
        made += 1
except OSError: pass
print(made, flush=True)
os._exit(0)
"""
SPIN = """
import os, time
for _ in range(3): os.fork()
end = time.monotonic() + 1
while time.monotonic() < end: pass
"""
HIDDEN = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os._exit(0)
try: os.wait()
except ChildProcessError: pass
"""


@pytest.fixture
def held():
    """The controllers with which groups can be made here."""
    found = frozenset().union(*(place.controllers for place in cgroup.find_parents()))
    if not found:
        pytest.skip("no cgroup can be made here")
    return found


def test_a_run_says_what_held_each_limit(go, held):
    names = {"memory": "memory", "pids": "processes", "cpu": "cpu"}
    enforcement = go("true", limits=Limits(cpus=1)).enforcement
    assert all(enforcement[names[controller]] == "cgroup" for controller in held)
    assert set(enforcement) == {"memory", "processes", "disk", "files", "descriptors", "cpu", "network"}


def test_a_run_without_a_group_says_what_takes_its_place(go, watched):
    enforcement = go("true", limits=Limits(cpus=1), site=watched).enforcement
    assert (enforcement["memory"], enforcement["processes"], enforcement["cpu"]) == (
        "watchdog",
        "rlimit",
        "affinity",
    )
    assert go("true", site=watched).enforcement["cpu"] == "time limit"


@pytest.mark.parametrize("grouped", [True, False], ids=["cgroup", "rlimit"])
def test_processes_are_held(go, grouped):
    site = SandboxSettings(minimum="landlock", use_cgroups=grouped)
    made = int(go(*PYTHON, FORKS, limits=Limits(processes=12), site=site).stdout)
    assert 4 <= made <= 14


@pytest.mark.parametrize("grouped", [True, False], ids=["cgroup", "affinity"])
def test_a_run_uses_no_more_processors_than_it_may(go, grouped):
    site = SandboxSettings(minimum="landlock", use_cgroups=grouped)
    ended = go(*PYTHON, SPIN, limits=Limits(cpus=1), site=site)
    assert (ended.ending, ended.exit_code) == ("exited", 0)
    assert ended.cpu_s < ended.duration_s * 1.15


def test_a_run_cannot_take_more_processors_than_it_was_given(go, watched):
    script = (
        "import os\nhad = os.sched_getaffinity(0)\n"
        "try: os.sched_setaffinity(0, range(1024))\nexcept OSError: pass\n"
        "print(len(had), had == os.sched_getaffinity(0))"
    )
    assert go(*PYTHON, script, limits=Limits(cpus=1), site=watched).stdout == b"1 True\n"


def test_the_time_of_children_that_nobody_waits_for_is_counted(go):
    if not any(_counts(place) for place in cgroup.find_parents()):
        pytest.xfail("no cgroup here counts processor time")
    assert go(*PYTHON, HIDDEN, limits=Limits(cpus=1)).cpu_s >= 0.3


def _counts(place):
    return place.version == 2 or (place.folder / "cpuacct.usage").exists()


def test_nothing_is_left_of_a_group(go, held):
    go("bash", "-c", "setsid sleep 63.5 & echo", limits=Limits(cpus=1))
    mine = f"skillquay-{os.getpid()}-*"
    assert [made for place in cgroup.find_parents() for made in place.folder.glob(mine)] == []


def test_the_empty_group_of_a_lost_worker_is_swept(held):
    place = cgroup.find_parents()[0]
    lost, own = place.folder / f"skillquay-{1 << 30}-0", place.folder / f"skillquay-{os.getpid()}-0"
    lost.mkdir()
    own.mkdir()
    try:
        cgroup._sweep(place.folder)
        assert (lost.exists(), own.exists()) == (False, True)
    finally:
        own.rmdir()


WRITTEN = {
    1: {
        "memory.limit_in_bytes": "67108864",
        "memory.memsw.limit_in_bytes": "67108864",
        "pids.max": "13",
        "cpu.cfs_quota_us": "200000",
    },
    2: {
        "memory.max": "67108864",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "13",
        "cpu.max": "200000 100000",
    },
}


@pytest.mark.parametrize("version", WRITTEN)
def test_the_lines_of_both_versions(tmp_path, version):
    """What is written; that a kernel heeds it is shown above, for the version that this machine has."""
    parent = CgroupFolder(tmp_path, version, frozenset(cgroup.CONTROLLERS))
    made = cgroup._create(parent, tmp_path / "run", CgroupLimits(memory_mb=64, processes=10, cpus=2))
    assert made == CgroupFolder(tmp_path / "run", version, frozenset(cgroup.CONTROLLERS))
    assert {file.name: file.read_text() for file in made.folder.iterdir()} == WRITTEN[version]


def test_a_controller_whose_limit_cannot_be_written_is_not_promised(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "pids.max").mkdir()
    bounds = CgroupLimits(memory_mb=64, processes=10)
    held = [cgroup._limit(tmp_path / "run", 2, name, bounds) for name in ("memory", "pids")]
    assert held == [True, False]
