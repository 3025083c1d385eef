"""Output is opened without believing anything that the run says of it."""

from __future__ import annotations

import os
import socket

import pytest

from worker.sandbox.collect import collect

pytestmark = [pytest.mark.row("A5"), pytest.mark.matrix("tier", at_most=1)]


@pytest.fixture
def output(tmp_path):
    folder = tmp_path / "output"
    folder.mkdir()
    return folder


def names(folder, **caps):
    return [collected.path for collected in collect(folder, **caps)]


def test_files_come_sorted_with_size_and_bytes(output, tmp_path):
    (output / "b").write_bytes(b"bb")
    (output / "a").mkdir()
    (output / "a" / "报告.txt").write_bytes(b"a")
    found = [(one.path, one.size, one.file.read()) for one in collect(tmp_path)]
    assert found == [("a/报告.txt", 1, b"a"), ("b", 2, b"bb")]


def test_no_folder_means_no_files(tmp_path):
    assert names(tmp_path) == []
    assert names(tmp_path / "nowhere") == []


def test_links_pipes_sockets_and_hard_links_are_left_out_with_a_reason(output, tmp_path):
    (tmp_path / "outside").write_text("secret")
    (output / "link").symlink_to(tmp_path / "outside")
    (output / "folder").symlink_to(tmp_path)
    os.mkfifo(output / "pipe")
    os.link(tmp_path / "outside", output / "hard")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(output / "socket"))
        skipped = {}
        assert names(tmp_path, on_skip=skipped.__setitem__) == []
    assert set(skipped) == {"link", "folder", "pipe", "hard", "socket"}
    assert skipped["hard"] == "hard-linked"


def test_an_output_folder_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("secret")
    (tmp_path / "output").symlink_to(tmp_path / "elsewhere")
    assert names(tmp_path) == []


def test_files_of_another_owner_are_left_out(output, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    (output / "given").write_text("x")
    os.chown(output / "given", 12_345, 12_345)
    assert names(tmp_path) == []


def test_caps_hold_and_say_what_they_left(output, tmp_path):
    for name in "abc":
        (output / name).write_bytes(b"12345")
    skipped = {}
    assert names(tmp_path, max_files=2, on_skip=skipped.__setitem__) == ["a", "b"]
    assert skipped == {"c": "too many files"}
    assert names(tmp_path, max_bytes=9, on_skip=skipped.__setitem__) == ["a"]
    assert skipped["b"] == "too many bytes"


def test_names_that_are_not_text_and_bottomless_folders_are_left_out(output, tmp_path):
    with open(os.fsencode(output) + b"/\xff", "w"):
        pass
    deep = output
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    skipped = {}
    assert names(tmp_path, on_skip=skipped.__setitem__) == []
    assert sorted(skipped.values()) == ["its name is not UTF-8", "too deep"]


def test_names_that_no_address_can_carry_are_left_out_with_a_reason(output, tmp_path):
    for name in ("a\r\nSet-Cookie: x=1", "\x1b[31m", "\x7f", "a\x85b"):
        (output / name).write_bytes(b"")
    (output / "\u202egnp.报告").write_bytes(b"")
    (output / "fol\nder").mkdir()
    (output / "fol\nder" / "file").write_bytes(b"")
    skipped = {}
    assert names(tmp_path, on_skip=skipped.__setitem__) == ["\u202egnp.报告"]
    assert set(skipped.values()) == {"its name contains control characters"}
    assert len(skipped) == 5
