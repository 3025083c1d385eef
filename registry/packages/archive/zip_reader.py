"""Reads untrusted zips. Inflates each entry within limits and verifies its CRC."""

import stat
import zlib

from registry.packages import errors
from registry.packages.archive.entries import ArchiveEntry, special_kind
from registry.packages.archive.inflate import inflate
from registry.packages.archive.paths import printable
from registry.packages.archive.zip_records import Record, check_readable, read_records
from registry.packages.limits import Limits
from registry.packages.problems import gettext_noop


def read_zip(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[ArchiveEntry, ...]:
    """The files and folders of a zip, and its symbolic links if ``with_links`` is set.

    Raises Refusal for other entries, for damaged or ambiguous archives, and for too many or too large
    entries. All declared sizes are checked before inflating.
    """
    records = read_records(data, limits)
    for record in records:
        check_readable(record)
        if not (with_links and stat.S_ISLNK(record.mode)):
            _check_kind(record)
        if record.size > limits.file:
            raise errors.FILE_TOO_LARGE.refusal(limit=limits.file).at(printable(record.name))
    if sum(record.size for record in records) > limits.unpacked:
        raise errors.PACKAGE_TOO_LARGE.refusal(limit=limits.unpacked)
    return tuple(_entry(data, record) for record in records)


def _check_kind(record: Record) -> None:
    kind = stat.S_IFMT(record.mode)
    label = printable(record.name)
    if kind == stat.S_IFLNK:
        raise errors.ENTRY_LINK.refusal().at(label)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise errors.ENTRY_SPECIAL.refusal(kind=special_kind(kind)).at(label)
    named_folder = record.name.endswith("/")
    if (kind == stat.S_IFDIR) > named_folder or (kind == stat.S_IFREG) & named_folder:
        raise errors.ARCHIVE_DISAGREES.refusal(
            reason=gettext_noop("the name and mode of an entry disagree on whether it is a file or a folder")
        ).at(label)
    if named_folder and record.size:
        raise errors.ARCHIVE_DISAGREES.refusal(reason=gettext_noop("a folder entry contains data")).at(label)


def _entry(data: bytes, record: Record) -> ArchiveEntry:
    packed = data[record.start : record.start + record.packed]
    content = packed if record.method == 0 else inflate(packed, record.size, path=printable(record.name))
    if zlib.crc32(content) != record.crc:
        raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("the checksum of an entry is wrong")).at(
            printable(record.name)
        )
    if record.name.endswith("/"):
        return ArchiveEntry(record.name.removesuffix("/"), None)
    if stat.S_ISLNK(record.mode):
        return ArchiveEntry(record.name, b"", link=content.decode("utf-8", "replace"))
    return ArchiveEntry(record.name, content, bool(record.mode & 0o111))
