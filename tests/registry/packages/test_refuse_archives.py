"""Hostile archives: each is refused with a code and a place, none unpacks to more than it may."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zlib
from dataclasses import replace
from typing import Any

import pytest

from registry.packages.limits import Limits
from registry.packages.problems import CODES, LazyMessage, Refusal
from registry.packages.read_package import read_upload
from tests.factories.archives import (
    SKILL,
    End,
    Item,
    deflate,
    make_zip,
    tar_gz,
    tar_member,
    with_data_descriptor,
    zip_of,
)

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C1")]
MD = Item("SKILL.md", SKILL)
EXTRA = Item("a.txt", b"a" * 100)
ZEROS = bytes(1 << 20)
SMALL = Limits(archive=200_000, unpacked=1 << 20, file=1 << 19, entries=20, skill_md=10_000)


def overlap_bomb() -> bytes:
    """Many directory entries over one local record."""
    kernel = Item("SKILL.md", SKILL + ZEROS, method=8)
    local = kernel.local()
    directory = b"".join(replace(kernel, name=f"{i}.md").central(0) for i in range(15))
    return local + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 15, 15, len(directory), len(local), 0)


def quoted_overlap() -> bytes:
    """One record's bytes hold the next one's local record, which the directory names too."""
    inner = Item("inner.txt", b"x" * 50)
    outer = Item("SKILL.md", SKILL + inner.local())
    place = 30 + len("SKILL.md") + len(SKILL)
    return make_zip(outer, replace(inner, offset=place, tail=b"")) if place else b""


def zip64_extra(*values: int) -> bytes:
    return struct.pack(f"<HH{len(values)}Q", 1, 8 * len(values), *values)


ZIPS = {
    "overlap bomb": (overlap_bomb(), "ARCHIVE_DISAGREES"),
    "quoted overlap": (quoted_overlap(), "ARCHIVE_GAPS"),
    "two entries at one place": (make_zip(MD, replace(MD, name="b.md", offset=0)), "ARCHIVE_GAPS"),
    "gap between entries": (make_zip(replace(MD, tail=b"gap"), EXTRA), "ARCHIVE_GAPS"),
    "gap before the directory": (make_zip(MD, end=End(before_directory=b"gap")), "ARCHIVE_GAPS"),
    "gap behind the directory": (make_zip(MD, end=End(after_directory=b"gap")), "ARCHIVE_GAPS"),
    "prefix counted": (make_zip(MD, end=End(prefix=b"#!/bin/sh\n")), "ARCHIVE_GAPS"),
    "prefix not counted": (make_zip(MD, end=End(prefix=b"#!/bin/sh\n", shift=True)), "ARCHIVE_DAMAGED"),
    "suffix": (make_zip(MD, end=End(suffix=b"x")), "ARCHIVE_TRUNCATED"),
    "ghost entry": (make_zip(MD, replace(EXTRA, in_directory=False)), "ARCHIVE_GAPS"),
    "ghost entry first": (make_zip(replace(EXTRA, in_directory=False), MD), "ARCHIVE_GAPS"),
    "two end records": (
        make_zip(MD, end=End(comment=make_zip(EXTRA))),
        "ARCHIVE_AMBIGUOUS",
    ),
    "end record in the comment": (make_zip(MD, end=End(comment=b"PK\5\6")), "ARCHIVE_AMBIGUOUS"),
    "two whole archives": (make_zip(MD) + make_zip(MD), "ARCHIVE_GAPS"),
    "directory count too high": (make_zip(MD, end=End(count=2)), "ARCHIVE_"),
    "directory count too low": (make_zip(MD, EXTRA, end=End(count=1)), "ARCHIVE_DISAGREES"),
    "directory size a lie": (make_zip(MD, end=End(size=10)), "ARCHIVE_GAPS"),
    "directory offset a lie": (make_zip(MD, end=End(offset=3)), "ARCHIVE_GAPS"),
    "second disk": (make_zip(MD, end=End(disk=1)), "ARCHIVE_SPLIT"),
    "entries here and in all differ": (make_zip(MD, end=End(count_here=0)), "ARCHIVE_SPLIT"),
    "entry on another disk": (make_zip(replace(MD, disk=4)), "ARCHIVE_SPLIT"),
    "zip64 count a lie": (make_zip(MD, end=End(zip64=True, zip64_count=7)), "ARCHIVE_"),
    "zip64 count enormous": (
        make_zip(MD, end=End(zip64=True, zip64_count=1 << 60)),
        "ARCHIVE_TOO_MANY_ENTRIES",
    ),
    "zip64 offset a lie": (make_zip(MD, end=End(zip64=True, zip64_offset=1)), "ARCHIVE_GAPS"),
    "zip64 record elsewhere": (make_zip(MD, end=End(zip64=True, zip64_place=0)), "ARCHIVE_DAMAGED"),
    "zip64 record beyond the end": (
        make_zip(MD, end=End(zip64=True, zip64_place=1 << 62)),
        "ARCHIVE_DAMAGED",
    ),
    "zip64 size without its field": (make_zip(replace(MD, size=0xFFFFFFFF)), "ARCHIVE_DAMAGED"),
    "zip64 size enormous": (
        make_zip(replace(MD, size=0xFFFFFFFF, extra=zip64_extra(1 << 62), local_extra=zip64_extra(1 << 62))),
        "ARCHIVE_DISAGREES",
    ),
    "zip64 field twice": (
        make_zip(replace(MD, size=0xFFFFFFFF, extra=zip64_extra(len(SKILL)) * 2)),
        "ARCHIVE_AMBIGUOUS",
    ),
    "wrong checksum": (make_zip(replace(MD, crc=1)), "ARCHIVE_DAMAGED"),
    "local checksum differs": (make_zip(replace(MD, local_crc=1)), "ARCHIVE_DISAGREES"),
    "local size differs": (make_zip(replace(MD, local_size=1)), "ARCHIVE_DISAGREES"),
    "local packed size differs": (make_zip(replace(MD, local_packed_size=1)), "ARCHIVE_DISAGREES"),
    "local name differs": (make_zip(replace(MD, local_name=b"EVIL.txt")), "ARCHIVE_DISAGREES"),
    "local name longer": (make_zip(replace(MD, local_name=b"../../evil")), "ARCHIVE_DISAGREES"),
    "local method differs": (make_zip(replace(MD, local_method=8)), "ARCHIVE_DISAGREES"),
    "local flags differ": (make_zip(replace(MD, local_flags=0x800)), "ARCHIVE_DISAGREES"),
    "stored with two sizes": (make_zip(replace(MD, size=5, crc=zlib.crc32(SKILL[:5]))), "ARCHIVE_DISAGREES"),
    "says less than it holds": (
        make_zip(Item("SKILL.md", SKILL, 8, packed=deflate(SKILL + ZEROS))),
        "ARCHIVE_DAMAGED",
    ),
    "says more than it holds": (make_zip(Item("SKILL.md", SKILL, 8, size=99_999)), "ARCHIVE_DAMAGED"),
    "something behind the deflate stream": (
        make_zip(Item("SKILL.md", SKILL, 8, packed=deflate(SKILL) + b"hidden")),
        "ARCHIVE_DAMAGED",
    ),
    "deflate stream cut": (
        make_zip(Item("SKILL.md", SKILL, 8, packed=deflate(SKILL)[:-3])),
        "ARCHIVE_DAMAGED",
    ),
    "no deflate stream": (make_zip(Item("SKILL.md", SKILL, 8, packed=b"\xff" * 40)), "ARCHIVE_DAMAGED"),
    "descriptor differs": (
        make_zip(replace(with_data_descriptor(MD), tail=b"PK\7\x08" + bytes(12))),
        "ARCHIVE_DISAGREES",
    ),
    "descriptor missing": (make_zip(replace(with_data_descriptor(MD), tail=b"")), "ARCHIVE_DISAGREES"),
    "descriptor too long": (
        make_zip(replace(with_data_descriptor(MD), tail=with_data_descriptor(MD).tail + b"x")),
        "ARCHIVE_DISAGREES",
    ),
    "encrypted": (make_zip(replace(MD, flags=1)), "ARCHIVE_ENCRYPTED"),
    "strongly encrypted": (make_zip(replace(MD, flags=0x41)), "ARCHIVE_ENCRYPTED"),
    "directory masked": (make_zip(replace(MD, flags=0x2000)), "ARCHIVE_ENCRYPTED"),
    "patch data": (make_zip(replace(MD, flags=0x20)), "ARCHIVE_DAMAGED"),
    "bzip2": (make_zip(replace(MD, method=12)), "ARCHIVE_METHOD"),
    "lzma": (make_zip(replace(MD, method=14)), "ARCHIVE_METHOD"),
    "deflate64": (make_zip(replace(MD, method=9)), "ARCHIVE_METHOD"),
    "zstd": (make_zip(replace(MD, method=93)), "ARCHIVE_METHOD"),
    "unicode path says another name": (
        make_zip(replace(MD, extra=struct.pack("<HHBI", 0x7075, 12, 1, 0) + b"EVIL.md")),
        "ARCHIVE_DISAGREES",
    ),
    "symbolic link": (make_zip(MD, Item("l", b"/etc/passwd", mode=0o120777)), "ENTRY_LINK"),
    "symbolic link of no Unix": (make_zip(MD, Item("l", b"/etc", mode=0o120777, maker=0)), "ENTRY_LINK"),
    "fifo": (make_zip(MD, Item("f", mode=0o010644)), "ENTRY_SPECIAL"),
    "character device": (make_zip(MD, Item("f", mode=0o020644)), "ENTRY_SPECIAL"),
    "block device": (make_zip(MD, Item("f", mode=0o060644)), "ENTRY_SPECIAL"),
    "socket": (make_zip(MD, Item("f", mode=0o140644)), "ENTRY_SPECIAL"),
    "folder by mode, file by name": (make_zip(MD, Item("f", mode=0o040755)), "ARCHIVE_DISAGREES"),
    "file by mode, folder by name": (make_zip(MD, Item("f/", mode=0o100644)), "ARCHIVE_DISAGREES"),
    "folder with contents": (make_zip(MD, Item("f/", b"x", mode=0o040755)), "ARCHIVE_DISAGREES"),
    "no entries": (make_zip(), "SKILL_MISSING"),
    "too many entries": (make_zip(MD, *(Item(f"{i}") for i in range(20))), "ARCHIVE_TOO_MANY_ENTRIES"),
    "bomb in one file": (make_zip(Item("SKILL.md", ZEROS, 8)), "FILE_TOO_LARGE"),
    "bomb in many files": (
        make_zip(MD, *(Item(f"{i}", ZEROS[: 1 << 18], 8) for i in range(5))),
        "PACKAGE_TOO_LARGE",
    ),
    "too large": (make_zip(MD, Item("a", bytes(300_000))), "ARCHIVE_TOO_LARGE"),
    "SKILL.md too large": (make_zip(Item("SKILL.md", b"a" * 20_000, 8)), "SKILL_TOO_LARGE"),
    "SKILL.md in Latin-1": (make_zip(Item("SKILL.md", "é".encode("latin-1"))), "SKILL_NOT_TEXT"),
    "SKILL.md in UTF-16": (make_zip(Item("SKILL.md", "hello".encode("utf-16"))), "SKILL_NOT_TEXT"),
    "SKILL.md with NUL": (make_zip(Item("SKILL.md", b"a\0b")), "TEXT_NOT_STORABLE"),
    "no SKILL.md": (make_zip(EXTRA), "SKILL_MISSING"),
    "SKILL.md only in junk": (make_zip(Item("__MACOSX/SKILL.md", SKILL)), "SKILL_MISSING"),
    "SKILL.md two folders down": (make_zip(Item("a/b/SKILL.md", SKILL)), "SKILL_MISSING"),
    "SKILL.md is a folder": (make_zip(Item("SKILL.md/a", SKILL)), "SKILL_MISSING"),
    "two skills": (make_zip(Item("a/SKILL.md", SKILL), Item("b/SKILL.md", SKILL)), "SKILL_AMBIGUOUS"),
    "one skill in another": (make_zip(MD, Item("b/SKILL.md", SKILL)), "SKILL_AMBIGUOUS"),
    "files beside the folder": (make_zip(Item("a/SKILL.md", SKILL), EXTRA), "SKILL_STRAY_FILES"),
    "no archive": (b"hello world", "ARCHIVE_FORMAT"),
    "nothing": (b"", "ARCHIVE_FORMAT"),
    "only an end record": (make_zip()[:10], "ARCHIVE_TRUNCATED"),
    "rar": (b"Rar!\x1a\x07\0" + bytes(50), "ARCHIVE_FORMAT"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(50), "ARCHIVE_FORMAT"),
}

PATHS = {
    "../evil": "PATH_UNSAFE",
    "a/../../evil": "PATH_UNSAFE",
    "/etc/passwd": "PATH_UNSAFE",
    "//host/share": "PATH_UNSAFE",
    "a\\b": "PATH_UNSAFE",
    "..\\evil": "PATH_UNSAFE",
    "C:/evil": "PATH_UNSAFE",
    "c:evil": "PATH_UNSAFE",
    "a//b": "PATH_UNSAFE",
    "a/./b": "PATH_UNSAFE",
    ".": "PATH_UNSAFE",
    "..": "PATH_UNSAFE",
    "": "PATH_UNSAFE",
    "a\nb": "PATH_CHARACTERS",
    "a\0b": "PATH_CHARACTERS",
    "a\x1b[31mb": "PATH_CHARACTERS",
    "a\x85b": "PATH_CHARACTERS",
    "invoice\u202efdp.exe": "PATH_INVISIBLE",
    "a\u2066b\u2069.md": "PATH_INVISIBLE",
    "a\u200f.md": "PATH_INVISIBLE",
    "a\u200bb.md": "PATH_INVISIBLE",
    "a\u200db.md": "PATH_INVISIBLE",
    "folder\ufeff/b.md": "PATH_INVISIBLE",
    "a\u2060.md": "PATH_INVISIBLE",
    "a\u00adb.md": "PATH_INVISIBLE",
    "a\ufe0f.md": "PATH_INVISIBLE",
    "a\U000e0041.md": "PATH_INVISIBLE",
    "報\u3164告.md": "PATH_INVISIBLE",
    "a?b": "PATH_CHARACTERS",
    "a:stream": "PATH_UNSAFE",
    "file:stream": "PATH_CHARACTERS",
    "a.": "PATH_CHARACTERS",
    "a /b": "PATH_CHARACTERS",
    ".../b": "PATH_CHARACTERS",
    "CON": "PATH_RESERVED",
    "nul.txt": "PATH_RESERVED",
    "a/Com1.tar.gz": "PATH_RESERVED",
    "lpt².md": "PATH_RESERVED",
    "a" * 501: "PATH_TOO_LONG",
    "技" * 100: "PATH_TOO_LONG",
    "a/" * 21 + "b": "PATH_TOO_DEEP",
    "skill.MD": "PATH_CLASH",
    "SKILL.md/x": "PATH_CLASH",
}

CLASHES = {
    "same name twice": ("a", "a"),
    "case": ("Readme.md", "README.md"),
    "sharp s": ("straße", "STRASSE"),
    "accents": ("caf\u00e9", "cafe\u0301"),
    "file and folder": ("a", "a/b"),
    "folder and file": ("a/b", "A"),
    "folder entry and file": ("a/", "a"),
}


def refusal(data: bytes, **more: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read_upload(data, limits=SMALL, **more)
    for problem in caught.value.problems:
        assert problem.code in CODES
        assert problem.message().isprintable()
        assert problem.remedy().isprintable()
        assert problem.path.isprintable()
    return caught.value


@pytest.mark.parametrize("kind", ZIPS)
def test_a_hostile_zip_is_refused_with_its_code(kind: str) -> None:
    data, code = ZIPS[kind]
    assert refusal(data).code.startswith(code)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_does_not_unpack_everywhere_is_refused_where_it_stands(path: str) -> None:
    found = refusal(make_zip(MD, Item(path, mode=0)))
    assert found.code == PATHS[path]
    assert found.problems[0].path or not path


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("a" * 501, {"length": 501, "limit": 500}),
        ("技" * 100, {"name": "技" * 100, "length": 300, "limit": 255}),
    ],
)
def test_a_path_that_is_too_long_is_counted_in_the_unit_of_its_limit(path: str, params: Any) -> None:
    reason = refusal(make_zip(MD, Item(path, mode=0))).problems[0].params["reason"]
    assert isinstance(reason, LazyMessage)
    assert reason.params == params


def test_a_name_that_is_not_utf8_is_refused() -> None:
    assert refusal(make_zip(MD, Item("天气.md".encode("gbk")))).code == "PATH_NOT_UTF8"


@pytest.mark.parametrize("kind", CLASHES)
def test_two_paths_that_are_one_somewhere_are_refused(kind: str) -> None:
    first, second = CLASHES[kind]
    assert refusal(make_zip(MD, Item(first, mode=0), Item(second, mode=0))).code == "PATH_CLASH"


def test_every_bad_path_is_named_at_once() -> None:
    found = refusal(make_zip(MD, Item("../a"), Item("b?"), Item("CON")))
    assert [problem.code for problem in found.problems] == ["PATH_UNSAFE", "PATH_CHARACTERS", "PATH_RESERVED"]


def test_an_archive_cut_at_any_byte_is_refused() -> None:
    whole = make_zip(
        MD,
        with_data_descriptor(EXTRA),
        replace(EXTRA, name="b", method=8),
        end=End(zip64=True, comment=b"hi"),
    )
    assert read_upload(whole)
    for end in range(len(whole)):
        refusal(whole[:end])


def test_a_gzip_cut_at_any_byte_is_refused() -> None:
    whole = tar_gz(("SKILL.md", SKILL))
    assert read_upload(whole)
    for end in range(len(whole)):
        refusal(whole[:end])


def plain_tar(*members: Any, **more: Any) -> bytes:
    return gzip.decompress(tar_gz(*members, **more))


def _pax(body: bytes, kind: bytes = b"x") -> bytes:
    """A hand-made extended header before an ordinary file."""
    head = tarfile.TarInfo("pax")
    head.type, head.size = kind, len(body)
    block = head.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)
    return gzip.compress(block + plain_tar(("SKILL.md", SKILL)))


def _damaged(place: int, value: bytes) -> bytes:
    raw = bytearray(plain_tar(("SKILL.md", SKILL)))
    raw[place : place + len(value)] = value
    header = raw[:148] + b" " * 8 + raw[156:512]
    raw[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(raw))


TARS = {
    "symbolic link": (tar_gz(("SKILL.md", SKILL), tar_member("l", tarfile.SYMTYPE, "/etc")), "ENTRY_LINK"),
    "hard link": (tar_gz(("SKILL.md", SKILL), tar_member("l", tarfile.LNKTYPE, "SKILL.md")), "ENTRY_LINK"),
    "fifo": (tar_gz(("SKILL.md", SKILL), tar_member("f", tarfile.FIFOTYPE)), "ENTRY_SPECIAL"),
    "device": (tar_gz(("SKILL.md", SKILL), tar_member("f", tarfile.CHRTYPE)), "ENTRY_SPECIAL"),
    "block device": (tar_gz(("SKILL.md", SKILL), tar_member("f", tarfile.BLKTYPE)), "ENTRY_SPECIAL"),
    "sparse file": (tar_gz(("SKILL.md", SKILL), tar_member("f", tarfile.GNUTYPE_SPARSE)), "ENTRY_SPARSE"),
    "unknown kind": (tar_gz(("SKILL.md", SKILL), tar_member("f", b"Z")), "ENTRY_SPECIAL"),
    "leads out": (tar_gz(("SKILL.md", SKILL), ("../evil", b"")), "PATH_UNSAFE"),
    "absolute": (tar_gz(("SKILL.md", SKILL), ("/etc/passwd", b"")), "PATH_UNSAFE"),
    "leads out by a long name": (
        tar_gz(("SKILL.md", SKILL), ("../" + "a" * 150, b""), form=tarfile.GNU_FORMAT),
        "PATH_UNSAFE",
    ),
    "twice the same": (tar_gz(("SKILL.md", SKILL), ("a", b"1"), ("a", b"2")), "PATH_CLASH"),
    "two skills": (tar_gz(("a/SKILL.md", SKILL), ("b/SKILL.md", SKILL)), "SKILL_AMBIGUOUS"),
    "bomb": (gzip.compress(bytes(10 << 20)), "PACKAGE_TOO_LARGE"),
    "bomb in a bomb": (gzip.compress(gzip.compress(bytes(10 << 20))), "ARCHIVE_"),
    "large file": (tar_gz(("SKILL.md", SKILL), ("a", ZEROS)), "FILE_TOO_LARGE"),
    "many entries": (
        tar_gz(("SKILL.md", SKILL), *((f"{i}", b"") for i in range(30))),
        "ARCHIVE_TOO_MANY_ENTRIES",
    ),
    "a second gzip member": (tar_gz(("SKILL.md", SKILL)) * 2, "ARCHIVE_GAPS"),
    "something behind the gzip": (tar_gz(("SKILL.md", SKILL)) + b"x", "ARCHIVE_GAPS"),
    "gzip of no tar": (gzip.compress(b"hello" * 200), "ARCHIVE_DAMAGED"),
    "empty gzip": (gzip.compress(b""), "ARCHIVE_TRUNCATED"),
    "no end blocks": (gzip.compress(plain_tar(("SKILL.md", SKILL))[:1024]), "ARCHIVE_TRUNCATED"),
    "a second tar behind the end": (gzip.compress(plain_tar(("SKILL.md", SKILL)) * 2), "ARCHIVE_GAPS"),
    "wrong header checksum": (gzip.compress(b"X" + plain_tar(("SKILL.md", SKILL))[1:]), "ARCHIVE_DAMAGED"),
    "negative size": (_damaged(124, b"\xff" * 12), "ARCHIVE_DAMAGED"),
    "enormous size": (_damaged(124, b"\x80" + b"\xff" * 11), "ARCHIVE_TRUNCATED"),
    "size of letters": (_damaged(124, b"abcdefghijk\0"), "ARCHIVE_DAMAGED"),
    "name that is not UTF-8": (_damaged(0, b"\xff\xfe.md\0\0"), "PATH_NOT_UTF8"),
    "pax record without end": (_pax(b"99 path=x\n"), "ARCHIVE_DAMAGED"),
    "pax record of length 0": (_pax(b"0 a=b\n"), "ARCHIVE_DAMAGED"),
    "pax record twice": (_pax(b"10 path=x\n10 path=y\n"), "ARCHIVE_AMBIGUOUS"),
    "pax size of letters": (_pax(b"12 size=abc\n"), "ARCHIVE_DAMAGED"),
    "pax size enormous": (_pax(b"23 size=99999999999999\n"), "ARCHIVE_TRUNCATED"),
    "pax name for all": (_pax(b"10 path=x\n", b"g"), "ARCHIVE_AMBIGUOUS"),
    "pax sparse": (_pax(b"22 GNU.sparse.major=1\n"), "ENTRY_SPARSE"),
    "pax name leads out": (_pax(b"16 path=../evil\n"), "PATH_UNSAFE"),
    "pax record too large": (_pax(b"x" * 70_000), "ARCHIVE_DAMAGED"),
    "long link": (_pax(b"/etc/passwd\0", b"K"), "ENTRY_LINK"),
}


@pytest.mark.parametrize("kind", TARS)
def test_a_hostile_tar_is_refused_with_its_code(kind: str) -> None:
    data, code = TARS[kind]
    assert refusal(data).code.startswith(code)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(0o010644, tarfile.FIFOTYPE), (0o020644, tarfile.CHRTYPE), (0o060644, tarfile.BLKTYPE)],
)
def test_a_special_file_has_one_name_in_all_archives(mode: int, kind: bytes) -> None:
    archives = make_zip(MD, Item("f", mode=mode)), tar_gz(("SKILL.md", SKILL), tar_member("f", kind))
    in_zip, in_tar = (refusal(data).problems[0].params["kind"] for data in archives)
    assert isinstance(in_zip, LazyMessage)
    assert in_zip == in_tar


def test_the_default_limits_hold_for_what_python_would_unpack() -> None:
    bomb = io.BytesIO(zip_of({"SKILL.md": SKILL, **{f"{i}.bin": bytes(9 << 20) for i in range(6)}}))
    with pytest.raises(Refusal) as refused:
        read_upload(bomb.getvalue())
    assert refused.value.code == "PACKAGE_TOO_LARGE"
    assert refused.value.problems[0].params["limit"] == 52_428_800
