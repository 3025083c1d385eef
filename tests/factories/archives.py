"""Builds archives byte by byte, so that a test can set any single field of a zip or tar to a wrong value."""

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
    """One zip entry. Fields that are None get their correct value."""

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
    tail: bytes = b""  # bytes after the data: a data descriptor or a gap
    offset: int | None = None
    disk: int = 0
    in_directory: bool = True

    @property
    def raw_name(self) -> bytes:
        """The encoded name."""
        return self.name if isinstance(self.name, bytes) else self.name.encode()

    @property
    def stored(self) -> bytes:
        """The data as the archive holds it, compressed if ``method`` is 8."""
        return (
            self.packed
            if self.packed is not None
            else (deflate(self.data) if self.method == 8 else self.data)
        )

    def checksum_and_sizes(self) -> tuple[int, int, int]:
        """The CRC-32, the compressed size and the size that the headers state."""
        return (
            zlib.crc32(self.data) if self.crc is None else self.crc,
            len(self.stored) if self.packed_size is None else self.packed_size,
            len(self.data) if self.size is None else self.size,
        )

    def local(self) -> bytes:
        """The local header, followed by the data."""
        crc, packed, size = self.checksum_and_sizes()
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
        """The entry of the central directory; ``offset`` is the place of the local header."""
        crc, packed, size = self.checksum_and_sizes()
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


def with_data_descriptor(item: Item, *, signature: bool = True, wide: bool = False) -> Item:
    """The item as Go and Java write it to a stream: zeros in the header and a data descriptor after the
    data.
    """
    crc, packed, size = item.checksum_and_sizes()
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
    """The end record of a zip. Fields that are None get their correct value."""

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
    shift: bool = False  # offsets count from the end of the prefix


def make_zip(*items: Item, end: End = End()) -> bytes:
    """A zip of these entries with this end record."""
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
    """The data as a raw deflate stream."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def zip_of(files: dict[str, bytes | str]) -> bytes:
    """An ordinary zip, written by the standard library."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def skill_zip(front: str = "", body: str = "# Hello\n", **files: bytes | str) -> bytes:
    """A zip with a SKILL.md of this front matter and body, and with other ``files`` by path."""
    text = f"---\n{front}---\n{body}" if front else body
    return zip_of({"SKILL.md": text, **files})


def tar_gz(*members: tarfile.TarInfo | tuple[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A compressed tar of these members; a tuple is the name and data of a file."""
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
    """A member without data, such as a link or a device."""
    item = tarfile.TarInfo(name)
    item.type, item.linkname = kind, target
    return item
