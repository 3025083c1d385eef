"""Packages are unpacked on first use: once, however many ask, and over nothing that lies there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from registry.packages.archive.repack import repack
from registry.packages.package import PackageFile
from registry.packages.problems import Refusal
from registry.storage import blobs
from worker.attempts import unpacking

pytestmark = pytest.mark.row("D12")


@pytest.fixture
def digest():
    files = (
        PackageFile("SKILL.md", b"---\nname: a\n---\n"),
        PackageFile("references/long.md", b"x" * 100_000),
    )
    return blobs.store(repack(files))


@pytest.fixture
def folder(digest):
    return unpacking._root() / digest.partition(":")[2]


def test_of_many_who_ask_at_once_one_unpacks_and_all_find_it_whole(digest, folder, monkeypatch):
    read, real = [], blobs.read

    def counted(wanted):
        read.append(wanted)
        return real(wanted)

    monkeypatch.setattr(unpacking.blobs, "read", counted)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: unpacking._unpack(digest, folder), range(16)))
    assert read == [digest]
    assert (folder / "references/long.md").stat().st_size == 100_000
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]


def test_it_follows_no_link_that_lies_in_its_place(digest, folder, tmp_path):
    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path / "absent")
    with pytest.raises((OSError, Refusal)):
        unpacking._unpack(digest, folder)
    assert not (tmp_path / "absent").exists()


def test_nothing_unpacked_can_be_written_to(digest, folder):
    unpacking._unpack(digest, folder)
    assert all(not path.stat().st_mode & 0o222 for path in Path(folder).rglob("*"))


@pytest.mark.django_db
def test_a_package_that_lost_its_bytes_with_the_power_is_unpacked_again(hello):
    script = unpacking.open_package(hello.digest).folder / "scripts" / "hello.py"
    whole = script.read_bytes()
    script.chmod(0o644)
    script.write_bytes(b"")
    unpacking._opened.clear()  # as in a process that has just started
    assert unpacking.open_package(hello.digest).read("scripts/hello.py") == whole
