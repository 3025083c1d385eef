"""Archives made byte by byte, so that every lie that a zip or tar can tell can be told."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, replace

SKILL = b"---\nname: hello\ndescription: Says hello.\n---\n# Hello\n"


@dataclass(frozen=True)
class Item:
    """One zip entry; what is None is said truthfully."""

    name: str | bytes
    data: bytes = b""
    method: int = 0
    flags: int = 0
    packed: bytes | None = None
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    mode: int = 0o100644
    maker: int = 3
    local_name: bytes | None = None
    local_flags: int | None = None
    local_method: int | None = None
    local_crc: int | None = None
    local_size: int | None = None
    local_packed_size: int | None = None
    extra: bytes = b""
    local_extra: bytes = b""
    tail: bytes = b""  # behind its bytes: a data descriptor, or a gap
    offset: int | None = None
    disk: int = 0
    in_directory: bool = True

    @property
    def raw_name(self) -> bytes:
        return self.name if isinstance(self.name, bytes) else self.name.encode()

    @property
    def stored(self) -> bytes:
        return (
            self.packed
            if self.packed is not None
            else (deflate(self.data) if self.method == 8 else self.data)
        )

    def meant(self) -> tuple[int, int, int]:
        return (
            zlib.crc32(self.data) if self.crc is None else self.crc,
            len(self.stored) if self.packed_size is None else self.packed_size,
            len(self.data) if self.size is None else self.size,
        )

    def local(self) -> bytes:
        crc, packed, size = self.meant()
        name = self.raw_name if self.local_name is None else self.local_name
        return (
            struct.pack(
                "<4s5H3I2H",
                b"PK\x03\x04",
                20,
                self.flags if self.local_flags is None else self.local_flags,
                self.method if self.local_method is None else self.local_method,
                0,
                0x21,
                crc if self.local_crc is None else self.local_crc,
                packed if self.local_packed_size is None else self.local_packed_size,
                size if self.local_size is None else self.local_size,
                len(name),
                len(self.local_extra),
            )
            + name
            + self.local_extra
            + self.stored
            + self.tail
        )

    def central(self, offset: int) -> bytes:
        crc, packed, size = self.meant()
        return (
            struct.pack(
                "<4s6H3I5H2I",
                b"PK\x01\x02",
                self.maker << 8 | 20,
                20,
                self.flags,
                self.method,
                0,
                0x21,
                crc,
                packed,
                size,
                len(self.raw_name),
                len(self.extra),
                0,
                self.disk,
                0,
                self.mode << 16,
                offset if self.offset is None else self.offset,
            )
            + self.raw_name
            + self.extra
        )


def streamed(item: Item, *, signature: bool = True, wide: bool = False) -> Item:
    """The item as Go, Java and pipes write it: zeros before, a data descriptor behind."""
    crc, packed, size = item.meant()
    tail = struct.pack("<IQQ" if wide else "<III", crc, packed, size)
    return replace(
        item,
        flags=item.flags | 8,
        local_crc=0,
        local_size=0,
        local_packed_size=0,
        tail=(b"PK\x07\x08" if signature else b"") + tail,
    )


@dataclass(frozen=True)
class End:
    """What the end record says; what is None is said truthfully."""

    prefix: bytes = b""
    before_directory: bytes = b""
    after_directory: bytes = b""
    comment: bytes = b""
    suffix: bytes = b""
    count: int | None = None
    count_here: int | None = None
    size: int | None = None
    offset: int | None = None
    disk: int = 0
    zip64: bool = False
    zip64_count: int | None = None
    zip64_offset: int | None = None
    zip64_place: int | None = None
    shift: bool = False  # offsets count from behind the prefix


def make_zip(*items: Item, end: End = End()) -> bytes:
    data, directory = bytearray(end.prefix), bytearray()
    shown = 0
    for item in items:
        place = len(data) - (len(end.prefix) if end.shift else 0)
        if item.in_directory:
            directory += item.central(place)
            shown += 1
        data += item.local()
    data += end.before_directory
    offset = len(data) if end.offset is None else end.offset
    data += directory + end.after_directory
    count = shown if end.count is None else end.count
    size = len(directory) if end.size is None else end.size
    if end.zip64:
        place = len(data) if end.zip64_place is None else end.zip64_place
        wide = count if end.zip64_count is None else end.zip64_count
        there = offset if end.zip64_offset is None else end.zip64_offset
        data += struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, wide, wide, size, there)
        data += struct.pack("<4sIQI", b"PK\x06\x07", 0, place, 1)
        count, size, offset = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    here = count if end.count_here is None else end.count_here
    data += struct.pack("<4s4H2IH", b"PK\x05\x06", end.disk, 0, here, count, size, offset, len(end.comment))
    return bytes(data + end.comment + end.suffix)


def deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def zip_of(files: dict[str, bytes | str]) -> bytes:
    """An ordinary zip, as Python makes it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def skill(front: str = "", body: str = "# Hello\n", **files: bytes | str) -> bytes:
    """A zip whose SKILL.md has this front matter; keywords name further files, ``__`` standing for ``/``."""
    text = f"---\n{front}---\n{body}" if front else body
    return zip_of({"SKILL.md": text, **files})


def tar_gz(*members: tarfile.TarInfo | tuple[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                item = tarfile.TarInfo(member[0])
                item.size = len(member[1])
                archive.addfile(item, io.BytesIO(member[1]))
    return gzip.compress(target.getvalue(), mtime=0)


def tar_member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    item = tarfile.TarInfo(name)
    item.type, item.linkname = kind, target
    return item
