"""Commands of one run start in one folder: what the first leaves there leads the worker nowhere."""

from __future__ import annotations

import os
import stat

import pytest

from worker.sandbox.limits.watchdog import folder_usage
from worker.sandbox.policy import Job
from worker.sandbox.tiers.landlock import make_inputs_read_only

pytestmark = [pytest.mark.attack, pytest.mark.row("C6", "D4"), pytest.mark.matrix("tier", at_most=1)]

PUT_A_LINK = "mv input gone 2>/dev/null || rmdir input; ln -s /etc input; ls -ld input"


@pytest.mark.parametrize("given", [True, False], ids=["inputs", "no inputs"])
def test_a_link_in_the_place_of_the_inputs_shows_nothing_of_the_host(go, job_dir, given):
    if not given:
        (job_dir / "input").rmdir()
    go("bash", "-c", PUT_A_LINK)
    ended = go("bash", "-c", "cat input/hostname input/passwd | grep -v nobody")
    assert ended.stdout == b"", ended.stdout


def test_modes_are_changed_of_no_file_that_a_link_leads_to(package, job_dir, tmp_path):
    theirs = tmp_path / "theirs"
    (theirs / "folder").mkdir(parents=True)
    (theirs / "file").write_text("the worker's")
    before = _modes(theirs)
    (job_dir / "input" / "file").symlink_to(theirs / "file")
    (job_dir / "input" / "folder").symlink_to(theirs / "folder")
    (job_dir / "input" / "own").write_text("the run's")
    make_inputs_read_only(Job((), package, job_dir))
    assert _modes(theirs) == before
    assert stat.S_IMODE((job_dir / "input" / "own").stat().st_mode) == 0o444
    os.rename(job_dir / "input", job_dir / "gone")
    (job_dir / "input").symlink_to(theirs)
    make_inputs_read_only(Job((), package, job_dir))
    assert _modes(theirs) == before


def test_a_link_in_the_place_of_the_output_is_not_followed_where_it_is_weighed(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_bytes(bytes(100_000))
    (tmp_path / "output").symlink_to(tmp_path / "theirs")
    assert folder_usage(tmp_path / "output", entries=99, size=1 << 40).size == 0


def _modes(folder):
    return {str(path): path.stat().st_mode for path in (folder, *sorted(folder.rglob("*")))}
