"""The scratch space: one file system of fixed size for everything that an attempt writes."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace

import pytest

from registry.packages.problems import Refusal
from tests.worker.sandbox.conftest import usable
from worker.sandbox.collect import collect
from worker.sandbox.limits import free_space
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch, open_scratch
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import TIERS, SandboxSettings
from worker.sandbox.tiers.available import has_scratch, run

pytestmark = [
    pytest.mark.slow("starts sandboxes"),
    pytest.mark.row("C6"),
    pytest.mark.matrix("scratch_tier", at_most=1),
]
SITE = SandboxSettings(minimum="landlock")
LIMITS = Limits(timeout_s=20, disk_mb=16, files=100, memory_mb=96)
FILL = """
import os, sys
written = 0
try:
    for number in range(40):
        file = open(f"{sys.argv[1]}{number}", "wb", buffering=0)
        written += file.write(bytes(1 << 20))
except OSError as error:
    print(written >> 20, error.errno)
    sys.exit(int(sys.argv[2]))
"""


@pytest.fixture(params=TIERS)
def scratch_tier(request):
    tier = usable(request.param)
    if not has_scratch(tier, SITE):
        pytest.skip(f"{tier} can't mount a scratch space here")
    return tier


class Attempt:
    """``attempt("bash", "-c", "…")``: a start in the scratch space that all starts of the test share."""

    def __init__(self, tier, package, folder):
        self.tier, self.package, self.folder, self.scratch = tier, package, folder, None
        for name in ("input", "output"):
            (folder / "job" / name).mkdir(parents=True)
        (folder / "job" / "input" / "given").write_text("given")

    def __call__(self, *argv, limits=LIMITS, site=SITE):
        self.scratch = self.scratch or open_scratch(self.folder, limits, site.max_tmpfs_bytes)
        job = Job(argv, self.package, self.folder / "job", limits=limits, scratch=self.scratch)
        return run(job, tier=self.tier, site=site)


@pytest.fixture
def attempt(scratch_tier, package, tmp_path):
    attempt = Attempt(scratch_tier, package, tmp_path / "var" / "attempt")
    yield attempt
    if attempt.scratch:
        attempt.scratch.close()


@pytest.mark.parametrize("scratch_tier", ["bwrap", "nsrun"], indirect=True)  # landlock has no /dev/shm
def test_shared_memory_is_part_of_the_scratch_space(attempt):
    result = attempt("python", "-c", FILL, "/dev/shm/x", "1")
    assert (result.ending, result.detail) == ("disk_limit", "bytes")


@pytest.mark.parametrize("place", ["output/x", "$TMPDIR/x"])
def test_full_scratch_space_refuses_writes_and_ends_a_failing_run(attempt, place):
    result = attempt("bash", "-c", f'exec python -c "$0" "{place}" 1', FILL)
    assert result.stdout.split()[1] == b"28"
    assert 12 <= int(result.stdout.split()[0]) <= 16
    assert (result.ending, result.detail) == ("disk_limit", "bytes")
    assert result.enforcement["disk"] == result.enforcement["files"] == "tmpfs"


def test_script_that_copes_with_a_full_disk_succeeds(attempt):
    assert attempt("python", "-c", FILL, "output/x", "0").ending == "exited"


def test_too_many_files_end_a_failing_run(attempt):
    result = attempt("python", "-c", "for n in range(300): open(f'output/{n}', 'w')")
    assert (result.ending, result.detail) == ("disk_limit", "files")


def test_deleted_files_count_while_they_are_open(attempt):
    script = "import os\nf = open('output/x', 'wb', buffering=0)\nos.unlink('output/x')\n"
    script += "for _ in range(40): assert f.write(bytes(1 << 20)) == 1 << 20"
    assert attempt("python", "-c", script).exit_code == 1
    assert attempt.scratch.usage().size < 1 << 20


def test_second_start_finds_the_files_of_the_first(attempt):
    attempt("bash", "-c", "echo one > output/kept; echo two > $TMPDIR/kept")
    result = attempt("bash", "-c", "cat output/kept $TMPDIR/kept input/given; echo more >> output/kept")
    assert result.stdout.split() == [b"one", b"two", b"given"]
    found = {file.path: file.file.read() for file in collect(attempt.scratch.job_folder)}
    assert found == {"kept": b"one\nmore\n"}


def test_nothing_is_written_to_the_host(attempt):
    attempt("bash", "-c", "echo x > output/x; echo y > $TMPDIR/y")
    assert sorted(os.listdir(attempt.folder)) == ["job"]
    assert os.listdir(attempt.folder / "job" / "output") == []


def test_inputs_are_read_only(attempt):
    result = attempt("bash", "-c", "echo x > input/given || echo y > input/new || echo refused")
    assert b"refused" in result.stdout
    assert (attempt.folder / "job" / "input" / "given").read_text() == "given"


def test_files_do_not_count_as_memory(attempt):
    limits = replace(LIMITS, disk_mb=160)
    script = "open('output/x', 'wb').write(bytes(1 << 20) * 140)\nimport time; time.sleep(0.3)"
    assert attempt("python", "-c", script, limits=replace(limits, memory_mb=200)).ending == "exited"


def test_memory_is_limited_apart_from_the_disk(attempt):
    limits = replace(LIMITS, disk_mb=400)
    script = "held = bytearray(b'x') * (200 << 20)\nimport time; time.sleep(5)"
    assert attempt("python", "-c", script, limits=limits).ending == "memory_limit"


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/loop-control"), reason="needs loop devices")
def test_large_scratch_space_is_a_loop_device(attempt):
    result = attempt("python", "-c", FILL, "output/x", "1", site=replace(SITE, max_tmpfs_bytes=0))
    assert result.enforcement["disk"] == "loop device"
    assert (result.ending, result.detail) == ("disk_limit", "bytes")
    assert not attempt.folder.with_suffix(".image").exists()


def test_closed_space_holds_no_descriptors(attempt):
    attempt("true")
    before = len(os.listdir("/proc/self/fd"))
    attempt.scratch.close()
    assert len(os.listdir("/proc/self/fd")) in (before - 2, before - 3)


def test_site_can_refuse_limits_that_are_only_checked(tier, package, job_dir):
    job = Job(("true",), package, job_dir)
    with pytest.raises(Refusal) as refused:
        run(job, tier=tier, site=replace(SITE, require_kernel_limits=True))
    assert refused.value.code == "KERNEL_LIMITS_UNAVAILABLE"


def test_low_disk_ends_the_youngest_run_that_writes_to_it(tmp_path):
    folders = [tmp_path / name / "job" for name in ("old", "young")]
    for age, folder in enumerate(folders):
        folder.mkdir(parents=True)
        free_space.mark_on_disk(folder)
        os.utime(folder.parent / ".on-disk", (1000 + age, 1000 + age))
    never, always = 1, 1 << 60
    assert [free_space.must_end(folder, always) for folder in folders] == [False, True]
    assert [free_space.must_end(folder, never) for folder in folders] == [False, False]


def test_run_on_a_low_disk_is_ended(tier, package, job_dir):
    site = replace(SITE, min_free_bytes=1 << 60)
    job = Job(("sleep", "10"), package, job_dir, limits=Limits(timeout_s=20))
    assert run(job, tier=tier, site=site).ending == "disk_limit"


def test_space_that_was_never_mounted_can_be_closed(tmp_path):
    with contextlib.closing(Scratch(tmp_path, 1 << 20, 10)) as scratch:
        assert (scratch.usage().size, scratch.exhausted(), scratch.job_folder) == (0, "", tmp_path / "job")
