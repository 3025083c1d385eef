"""Odd but good archives: whatever honest programs make is taken."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from registry.packages.archive.repack import repack
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files, read_folder, read_upload
from tests.factories.archives import (
    SKILL,
    End,
    Item,
    make_zip,
    tar_gz,
    tar_member,
    with_data_descriptor,
    zip_of,
)

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C1")]
MD = Item("SKILL.md", SKILL)
CODE = Item("scripts/a.py", b"print(1)\n" * 50, method=8)


def wide(item: Item) -> Item:
    """Sizes in the zip64 field though they are small, as streaming writers do."""
    _, packed, size = item.checksum_and_sizes()
    extra = struct.pack("<HHQQ", 1, 16, size, packed)
    return replace(
        item, size=0xFFFFFFFF, packed_size=0xFFFFFFFF, extra=extra, local_extra=extra, packed=item.stored
    )


GOOD = {
    "plain": make_zip(MD, CODE),
    "with a comment": make_zip(MD, CODE, end=End(comment=b"made by me")),
    "streamed, signed descriptors": make_zip(with_data_descriptor(MD), with_data_descriptor(CODE)),
    "streamed, bare descriptors": make_zip(
        with_data_descriptor(MD, signature=False), with_data_descriptor(CODE, signature=False)
    ),
    "streamed, wide descriptors": make_zip(
        with_data_descriptor(MD, wide=True), with_data_descriptor(CODE, wide=True)
    ),
    "streamed and told before": make_zip(
        replace(with_data_descriptor(MD), local_crc=None, local_size=None), CODE
    ),
    "zip64 end record": make_zip(MD, CODE, end=End(zip64=True)),
    "zip64 sizes": make_zip(wide(MD), wide(CODE)),
    "folders as entries": make_zip(Item("scripts/", mode=0o040755), MD, CODE),
    "Windows-made": make_zip(replace(MD, maker=0, mode=0), replace(CODE, maker=0, mode=0)),
    "names flagged as UTF-8": make_zip(replace(MD, flags=0x800), replace(CODE, flags=0x800)),
    "set-user-id bits": make_zip(replace(MD, mode=0o104755), CODE),
    "padded extra field": make_zip(replace(MD, extra=b"\0\0\0", local_extra=b"\0\0\0"), CODE),
    "directory in another order": make_zip(CODE, MD),
    "wrapped": make_zip(replace(MD, name="hello/SKILL.md"), replace(CODE, name="hello/scripts/a.py")),
    "wrapped by Finder": make_zip(
        with_data_descriptor(replace(MD, name="hello/SKILL.md")),
        with_data_descriptor(replace(CODE, name="hello/scripts/a.py")),
        Item("__MACOSX/hello/._SKILL.md", b"\0\5\x16\7"),
        Item("hello/.DS_Store", b"\0"),
    ),
    "with git and editor files": make_zip(
        MD,
        CODE,
        Item(".git/config"),
        Item("a.md~"),
        Item(".a.swp"),
        Item("Thumbs.db"),
        Item("__pycache__/a.pyc"),
    ),
    "dot slash before names": make_zip(replace(MD, name="./SKILL.md"), replace(CODE, name="./scripts/a.py")),
    "tar, pax": tar_gz(("SKILL.md", SKILL), ("scripts/a.py", CODE.data)),
    "tar, GNU": tar_gz(("SKILL.md", SKILL), ("scripts/a.py", CODE.data), form=tarfile.GNU_FORMAT),
    "tar, ustar": tar_gz(("SKILL.md", SKILL), ("scripts/a.py", CODE.data), form=tarfile.USTAR_FORMAT),
    "tar, wrapped with folders": tar_gz(
        tar_member("hello", tarfile.DIRTYPE), ("hello/SKILL.md", SKILL), ("hello/scripts/a.py", CODE.data)
    ),
    "tar of .": tar_gz(
        tar_member("./", tarfile.DIRTYPE), ("./SKILL.md", SKILL), ("./scripts/a.py", CODE.data)
    ),
    "tar from a Mac": tar_gz(("._SKILL.md", b"\0"), ("SKILL.md", SKILL), ("scripts/a.py", CODE.data)),
}


@pytest.mark.parametrize("kind", GOOD)
def test_an_honest_archive_becomes_the_same_package(kind: str) -> None:
    package = read_upload(GOOD[kind])
    assert package.ok
    assert {file.path: file.data for file in package.files} == {"SKILL.md": SKILL, "scripts/a.py": CODE.data}


def test_git_archives_and_long_names_are_taken() -> None:
    long = "references/" + "长" * 60 + "/" + "a" * 120 + ".md"
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=form, pax_headers={"comment": "0a1b"}) as archive:
            for name, data in (("SKILL.md", SKILL), (long, b"x")):
                item = tarfile.TarInfo(name)
                item.size = len(data)
                archive.addfile(item, io.BytesIO(data))
        assert long in read_upload(gzip.compress(target.getvalue())).paths


def test_names_in_chinese_need_no_flag() -> None:
    package = read_upload(make_zip(MD, Item("references/指南.md", b"x")))
    assert "references/指南.md" in package.paths


@pytest.mark.parametrize(
    "name",
    ["1\ufe0f\u20e3.md", "\u2764\ufe0f.md", "\U0001f468\u200d\U0001f469.png", "\u0645\u06cc\u200c\u062e.md"],
)
def test_joiners_between_letters_and_in_emoji_are_kept(name: str) -> None:
    assert name in read_files([("SKILL.md", MD.data), (name, b"x")]).paths


def test_names_are_kept_composed() -> None:
    assert "caf\u00e9.md" in read_upload(make_zip(MD, Item("cafe\u0301.md"))).paths


def test_python_and_pipes_make_archives_that_are_taken(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", SKILL)
        with archive.open("big.txt", "w", force_zip64=True) as target:
            target.write(b"x" * 1000)
    assert read_upload(pipe.getvalue()).paths == ("SKILL.md", "big.txt")


def test_a_system_tar_is_taken(tmp_path: Path) -> None:
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "SKILL.md").write_bytes(SKILL)
    made = subprocess.run(["tar", "czf", "-", "hello"], cwd=tmp_path, capture_output=True, check=True)
    assert read_upload(made.stdout).paths == ("SKILL.md",)


@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "hello/skill.md"])
def test_skill_md_in_small_letters_is_renamed(name: str) -> None:
    package = read_upload(zip_of({name: SKILL}))
    assert package.paths == ("SKILL.md",)
    assert [problem.code for problem in package.problems] == ["SKILL_RENAMED"]


def test_a_byte_order_mark_and_windows_lines_are_kept_and_read() -> None:
    text = "\ufeff---\r\nname: hello\r\ndescription: 说你好\r\n---\r\n# Hi\r\n\r\nLine\r\n".encode()
    package = read_upload(make_zip(Item("SKILL.md", text)))
    assert package.ok
    assert package.manifest.description == "说你好"
    assert package.body == "# Hi\r\n\r\nLine\r\n"
    assert package.files[0].data == text


def test_a_lone_skill_md_is_a_package() -> None:
    for filename in ("SKILL.md", "", "hello.md"):
        package = read_upload(SKILL, filename=filename)
        assert (package.ok, package.paths, package.manifest.slug) == (True, ("SKILL.md",), "hello")


def test_a_lone_file_without_front_matter_is_named_after_itself() -> None:
    package = read_upload(b"# Commits\n\nWrites commits.\n", filename="/tmp/write-commits.md")
    assert (package.manifest.name, package.manifest.description) == ("write-commits", "Writes commits.")


def test_a_text_that_begins_like_a_zip_is_a_text() -> None:
    assert read_upload(b"PKCE in short: prove who asked.\n", filename="pkce.md").ok


def test_modes_are_masked_to_two() -> None:
    package = read_upload(make_zip(MD, replace(CODE, mode=0o104711), Item("b.txt", mode=0o100600)))
    assert {file.path: file.executable for file in package.files} == {
        "SKILL.md": False,
        "scripts/a.py": True,
        "b.txt": False,
    }


def test_a_folder_is_read_like_its_archive(tmp_path: Path) -> None:
    folder = tmp_path / "my-folder"
    (folder / "scripts").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "SKILL.md").write_bytes(b"---\ndescription: Says hello.\n---\n")
    (folder / "scripts" / "a.sh").write_text("echo")
    (folder / "scripts" / "a.sh").chmod(0o755)
    package = read_folder(folder)
    assert package.manifest.slug == "my-folder"
    assert [(file.path, file.executable) for file in package.files] == [
        ("SKILL.md", False),
        ("scripts/a.sh", True),
    ]


def test_links_in_a_folder_are_refused_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes(SKILL)
    (tmp_path / "a").symlink_to("/etc/passwd")
    (tmp_path / "b").symlink_to("/etc")
    with pytest.raises(Refusal) as caught:
        read_folder(tmp_path)
    assert [(problem.code, problem.path) for problem in caught.value.problems] == [
        ("ENTRY_LINK", "a"),
        ("ENTRY_LINK", "b"),
    ]


def test_a_browsers_folder_upload_is_a_package() -> None:
    package = read_files([("hello/SKILL.md", SKILL), ("hello/scripts/a.py", b"1"), ("hello/.DS_Store", b"")])
    assert package.paths == ("SKILL.md", "scripts/a.py")


def test_what_was_served_is_taken_again_even_with_a_skill_inside() -> None:
    wrapped = zip_of({"a/SKILL.md": SKILL, "a/template/SKILL.md": b"template"})
    package = read_upload(wrapped)
    served = repack(package.files)
    assert read_upload(served).files == package.files
