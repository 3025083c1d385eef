"""What is stored and served: one archive, the same bytes everywhere, unpacked without following anything."""

from __future__ import annotations

import io
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.packages.archive.repack import digest_of, read_repacked, repack, repacked_size, unpack
from registry.packages.limits import Limits
from registry.packages.package import Package, PackageFile
from registry.packages.problems import Refusal
from registry.packages.read_package import read_package_files, read_upload
from tests.factories.archives import SKILL, Item, make_zip, tar_gz

pytestmark = pytest.mark.row("P3")
FILES = (
    PackageFile("SKILL.md", SKILL),
    PackageFile("scripts/运行.py", b"print(1)", executable=True),
    PackageFile("scripts/lib/b.py", b"2"),
)


def test_the_same_files_make_the_same_bytes_in_any_order() -> None:
    shuffled = list(FILES)
    random.Random(7).shuffle(shuffled)
    assert repack(FILES) == repack(shuffled)


def test_the_digest_never_changes() -> None:
    assert (
        digest_of(repack(FILES)) == "sha256:46de47c9838cefebb153a400da8a57c4f54e26de98fd1c100186a5544892b636"
    )


def test_zip_tar_wrapper_order_and_compression_make_one_digest() -> None:
    archives = (
        make_zip(Item("SKILL.md", SKILL), Item("b.md", b"b")),
        make_zip(Item("x/b.md", b"b", method=8), Item("x/SKILL.md", SKILL, method=8)),
        tar_gz(("y/SKILL.md", SKILL), ("y/b.md", b"b")),
    )
    assert len({digest_of(repack(read_upload(data).files)) for data in archives}) == 1


def test_every_zip_program_reads_it() -> None:
    with zipfile.ZipFile(io.BytesIO(repack(FILES))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["SKILL.md", "scripts/lib/b.py", "scripts/运行.py"]
        assert archive.getinfo("scripts/运行.py").external_attr >> 16 == 0o100755
        assert archive.getinfo("SKILL.md").date_time == (1980, 1, 1, 0, 0, 0)


def test_reading_it_back_gives_the_files() -> None:
    assert sorted(read_repacked(repack(FILES)), key=lambda file: file.path) == sorted(
        FILES, key=lambda f: f.path
    )


def _package_or_problems(read: Callable[[], Package]) -> object:
    try:
        return read()
    except Refusal as refused:
        return refused.problems


@pytest.mark.parametrize("limits", [Limits(), Limits(archive=500), Limits(entries=3), Limits(unpacked=200)])
@pytest.mark.parametrize(
    "added",
    [
        {},
        {"b/SKILL.md": SKILL},
        {"b/SKILL.md": SKILL, "a.txt~": b"dropped"},
        {"SKILL.md": b"two"},
        {"A.txt": b"", "a.txt": b""},
        {"scripts": b"a file and a folder"},
        {"../a.txt": b"", "con": b"", "a\\b": b""},
        {"e\u0301.txt": b"not in NFC"},
        {".DS_Store": b"junk", "code.py": b"#!", "phases/1.md": b"# Scripts\n\n- none\n"},
        {f"{number}.txt": b"x" * 90 for number in range(3)},
    ],
)
def test_files_are_read_like_their_archive(added: dict[str, bytes], limits: Limits) -> None:
    files = (*FILES, *(PackageFile(path, data, executable=True) for path, data in added.items()))
    archive = repack(files)
    assert repacked_size(files) == len(archive)
    of_files = _package_or_problems(lambda: read_package_files(files, filename="a.zip", limits=limits))
    of_archive = _package_or_problems(lambda: read_upload(archive, filename="a.zip", limits=limits))
    assert of_files == of_archive


def test_it_unpacks_with_its_modes_whatever_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        unpack(repack(FILES), tmp_path / "new")
    finally:
        os.umask(previous)
    script = tmp_path / "new" / "scripts" / "运行.py"
    assert script.read_bytes() == b"print(1)"
    assert script.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "new" / "scripts").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "new" / "SKILL.md").stat().st_mode & 0o777 == 0o644


@pytest.mark.row("D12")
def test_unpacking_follows_no_link_and_replaces_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    into = tmp_path / "into"
    into.mkdir()
    (into / "scripts").symlink_to(outside)
    with pytest.raises(Refusal):
        unpack(repack(FILES), into)
    assert list(outside.iterdir()) == []
    (into / "SKILL.md").unlink()
    (into / "SKILL.md").write_text("mine")
    with pytest.raises(Refusal):
        unpack(repack(FILES), into)
    assert (into / "SKILL.md").read_text() == "mine"


def test_unpacking_into_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(Refusal):
        unpack(repack(FILES), tmp_path / "link")
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize("path", ["../evil", "/evil", "a/../../evil", "a\\b"])
def test_unpacking_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refusal):
        unpack(make_zip(Item("SKILL.md", SKILL), Item(path, b"x")), tmp_path / "into")
    assert not list(tmp_path.glob("**/evil"))


def test_unpacking_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal):
        unpack(b"hello", tmp_path)
