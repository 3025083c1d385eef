"""A stranger's zip → entries, each inflated within bounds and checked by its CRC."""

from __future__ import annotations

import stat
import zlib

from registry.packages.entries import Entry
from registry.packages.inflate import inflate
from registry.packages.limits import Limits
from registry.packages.paths import shown
from registry.packages.problems import gettext_noop, refuse
from registry.packages.zip_records import Record, check_readable, read_records


def read_zip(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[Entry, ...]:
    """Every file and folder; nothing is inflated before all sizes are known to be within the limits."""
    records = read_records(data, limits)
    for record in records:
        check_readable(record)
        if not (with_links and stat.S_ISLNK(record.mode)):
            _check_kind(record)
        if record.size > limits.file:
            raise refuse("FILE_TOO_LARGE", path=shown(record.name), limit=limits.file)
    if sum(record.size for record in records) > limits.unpacked:
        raise refuse("PACKAGE_TOO_LARGE", limit=limits.unpacked)
    return tuple(_entry(data, record) for record in records)


def _check_kind(record: Record) -> None:
    kind = stat.S_IFMT(record.mode)
    place = shown(record.name)
    if kind == stat.S_IFLNK:
        raise refuse("ENTRY_LINK", path=place)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refuse("ENTRY_SPECIAL", path=place, kind=f"{kind:#o}")
    named_folder = record.name.endswith("/")
    if (kind == stat.S_IFDIR) > named_folder or (kind == stat.S_IFREG) & named_folder:
        raise refuse(
            "ARCHIVE_DISAGREES",
            path=place,
            reason=gettext_noop("it is a file by name and a folder by mode, or the reverse"),
        )
    if named_folder and record.size:
        raise refuse("ARCHIVE_DISAGREES", path=place, reason=gettext_noop("it is a folder with contents"))


def _entry(data: bytes, record: Record) -> Entry:
    packed = data[record.start : record.start + record.packed]
    content = packed if record.method == 0 else inflate(packed, record.size, path=shown(record.name))
    if zlib.crc32(content) != record.crc:
        raise refuse("ARCHIVE_DAMAGED", path=shown(record.name), reason=gettext_noop("its checksum is wrong"))
    if record.name.endswith("/"):
        return Entry(record.name.removesuffix("/"), None)
    if stat.S_ISLNK(record.mode):
        return Entry(record.name, b"", link=content.decode("utf-8", "replace"))
    return Entry(record.name, content, bool(record.mode & 0o111))
