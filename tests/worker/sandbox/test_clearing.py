"""What a run leaves is taken away, however deep it lies and however it was closed."""

from __future__ import annotations

import os

import pytest

from tests.attacks.people import Absent, as_plain_user
from worker.sandbox.cleanup import remove_tree

pytestmark = [pytest.mark.attack, pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

_CLOSED = """
import os, tempfile
from pathlib import Path
from worker.sandbox.cleanup import remove_tree
top = Path(tempfile.mkdtemp())
(top / "output" / "closed").mkdir(parents=True)
(top / "output" / "closed" / "file").write_text("x")
for folder, mode in (("output/closed", 0), ("output", 0o500), (".", 0)):
    (top / folder).chmod(mode)
remove_tree(top)
print(top.exists())
"""


@pytest.mark.parametrize(("name", "levels"), [("d", 1500), ("d" * 250, 40)], ids=["levels", "long names"])
def test_folders_within_folders_are_gone_beyond_what_can_be_named(tmp_path, name, levels):
    top = tmp_path / "job"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _level in range(levels):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    remove_tree(top)
    assert list(tmp_path.iterdir()) == []


def test_closed_folders_are_opened_by_their_owner_and_gone():
    try:
        done = as_plain_user("-c", _CLOSED)
    except Absent as absent:
        pytest.skip(str(absent))
    assert done.stdout == "False\n", done.stderr


def test_what_links_lead_to_stays(tmp_path):
    theirs, top = tmp_path / "theirs", tmp_path / "job"
    theirs.mkdir()
    (theirs / "file").write_text("the worker's")
    top.mkdir()
    (top / "folder").symlink_to(theirs)
    (top / "file").symlink_to(theirs / "file")
    remove_tree(top)
    (tmp_path / "link").symlink_to(theirs)
    remove_tree(tmp_path / "link")
    assert not top.exists()
    assert (theirs / "file").read_text() == "the worker's"
    assert oct(theirs.stat().st_mode & 0o777) != oct(0o700) or os.umask(os.umask(0)) == 0o077


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    remove_tree(tmp_path / "gone")
