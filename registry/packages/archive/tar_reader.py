"""Reads untrusted tar.gz archives under the same rules as zips. Formats: ustar, GNU long names, pax."""

import re
from dataclasses import dataclass

from registry.packages import errors
from registry.packages.archive.entries import BLOCK_DEVICE, CHARACTER_DEVICE, FIFO, ArchiveEntry
from registry.packages.archive.inflate import gunzip
from registry.packages.archive.paths import printable
from registry.packages.limits import Limits
from registry.packages.problems import LazyMessage, Refusal, gettext_noop

_BLOCK = 512
_FILES, _FOLDER, _SPARSE = (b"0", b"\0", b"7"), b"5", b"S"
_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
_KINDS = {b"3": CHARACTER_DEVICE, b"4": BLOCK_DEVICE, b"6": FIFO}
_MAX_HEADER_BODY = 64 * 1024  # bytes of a pax or long-name record, far longer than any path
_OCTAL = re.compile(rb"[ \0]*([0-7]*)[ \0]*")


@dataclass(frozen=True)
class _Header:
    name: bytes
    mode: int
    size: int
    kind: bytes
    link: bytes = b""


@dataclass(frozen=True)
class _Overrides:
    """The name and size that pax and long-name records set for the next entry."""

    name: bytes | None = None
    size: int | None = None


def read_tar_gz(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[ArchiveEntry, ...]:
    """The files and folders of a gzip-compressed tar, and its symbolic links if ``with_links`` is set.

    Raises Refusal like ``gunzip`` and ``read_tar``.
    """
    unpacked = gunzip(data, limits.unpacked + limits.entries * 4 * _BLOCK + (1 << 20))
    return read_tar(unpacked, limits, with_links=with_links)


def read_tar(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[ArchiveEntry, ...]:
    """The files and folders of a tar, and its symbolic links if ``with_links`` is set.

    Raises Refusal for other entries, for damaged archives, and for too many or too large entries. After the
    last entry, only zeros may follow: at least two blocks of them.
    """
    entries: list[ArchiveEntry] = []
    position, total, overrides = 0, 0, _Overrides()
    while data[position : position + _BLOCK].strip(b"\0"):
        header = _read_header(data, position)
        body = position + _BLOCK
        size = header.size if overrides.size is None else overrides.size
        position = body + -(-size // _BLOCK) * _BLOCK
        if position > len(data):
            raise errors.ARCHIVE_TRUNCATED.refusal(
                reason=gettext_noop("an entry extends past the end of the file")
            ).at(_printable_name(header.name))
        if header.kind in (_PAX, _PAX_GLOBAL, _LONG_NAME):
            overrides = _read_extension(header, data[body : body + size], overrides)
            continue
        if with_links and header.kind == _LONG_LINK:
            continue  # the target of the next link is too long for a header, so the link can't be resolved
        entry = _entry(header, overrides, data[body : body + size], limits, with_links=with_links)
        overrides = _Overrides()
        total += size
        if total > limits.unpacked:
            raise errors.PACKAGE_TOO_LARGE.refusal(limit=limits.unpacked)
        if entry.path:
            entries.append(entry)
        if len(entries) > limits.entries:
            raise errors.ARCHIVE_TOO_MANY_ENTRIES.refusal(limit=limits.entries)
    _check_end(data, position, overrides)
    return tuple(entries)


def _check_end(data: bytes, position: int, overrides: _Overrides) -> None:
    if len(data) - position < 2 * _BLOCK:
        raise errors.ARCHIVE_TRUNCATED.refusal(
            reason=gettext_noop("the two zero blocks at its end are missing")
        )
    if data.count(0, position) != len(data) - position:
        raise errors.ARCHIVE_GAPS.refusal(reason=gettext_noop("there is data after the end of the archive"))
    if overrides != _Overrides():
        raise errors.ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("its last record describes an entry that does not exist")
        )


def _read_header(data: bytes, position: int) -> _Header:
    block = data[position : position + _BLOCK]
    if len(block) < _BLOCK:
        raise errors.ARCHIVE_TRUNCATED.refusal(
            reason=gettext_noop("a header extends past the end of the file")
        )
    if _number(block[148:156]) != sum(block[:148]) + sum(block[156:]) + 8 * 32:
        text = gettext_noop("the header at byte %(position)s has a wrong checksum")
        raise errors.ARCHIVE_DAMAGED.refusal(reason=LazyMessage(text, position=position))
    name = block[:100].partition(b"\0")[0]
    if block[257:263] == b"ustar\0" and (prefix := block[345:500].partition(b"\0")[0]):
        name = prefix + b"/" + name
    link = block[157:257].partition(b"\0")[0]
    return _Header(name, _number(block[100:108]), _number(block[124:136]), block[156:157], link)


def _number(field: bytes) -> int:
    """The number in a header field: octal text, or GNU's big-endian form for large sizes.

    Raises ARCHIVE_DAMAGED for other data.
    """
    if field[0] & 0x80:
        if field[0] != 0x80:
            raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("a number in a header is negative"))
        return int.from_bytes(field[1:], "big")
    match = _OCTAL.fullmatch(field)
    if not match:
        raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("a number in a header is invalid"))
    return int(match[1] or b"0", 8)


def _read_extension(header: _Header, body: bytes, overrides: _Overrides) -> _Overrides:
    if len(body) > _MAX_HEADER_BODY:
        raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("a name record is too large"))
    if header.kind == _LONG_NAME:
        if overrides.name is not None:
            raise _two_names()
        return _Overrides(body.partition(b"\0")[0], overrides.size)
    fields = _pax_fields(body)
    if any(name.startswith(b"GNU.sparse") for name in fields):
        raise errors.ENTRY_SPARSE.refusal()
    if header.kind == _PAX_GLOBAL:
        if fields.keys() & {b"path", b"size", b"linkpath"}:
            raise errors.ARCHIVE_AMBIGUOUS.refusal(
                reason=gettext_noop("a global header sets one name or size for all entries")
            )
        return overrides
    if overrides != _Overrides():
        raise _two_names()
    size = fields.get(b"size")
    if size is not None and not re.fullmatch(rb"[0-9]{1,15}", size):
        raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("the size of an entry is not a number"))
    return _Overrides(fields.get(b"path"), None if size is None else int(size))


def _two_names() -> Refusal:
    return errors.ARCHIVE_AMBIGUOUS.refusal(reason=gettext_noop("an entry is described twice"))


def _pax_fields(body: bytes) -> dict[bytes, bytes]:
    """The values by key of records ``<length> <key>=<value>\\n``. The length counts the whole record.

    Raises Refusal for invalid and repeated records.
    """
    fields: dict[bytes, bytes] = {}
    position = 0
    while position < len(body):
        match = re.compile(rb"([1-9][0-9]{0,6}) ").match(body, position)
        end = position + int(match[1]) if match else 0
        if not match or end > len(body) or end <= match.end() or body[end - 1 : end] != b"\n":
            raise errors.ARCHIVE_DAMAGED.refusal(reason=gettext_noop("a pax record is invalid"))
        name, equals, value = body[match.end() : end - 1].partition(b"=")
        if not equals or name in fields:
            raise errors.ARCHIVE_AMBIGUOUS.refusal(
                reason=gettext_noop("a pax record is duplicated or has no value")
            )
        fields[name] = value
        position = end
    return fields


def _entry(
    header: _Header, overrides: _Overrides, body: bytes, limits: Limits, *, with_links: bool
) -> ArchiveEntry:
    raw = header.name if overrides.name is None else overrides.name
    label = _printable_name(raw)
    is_link = with_links and header.kind == b"2"
    if header.kind in (b"1", b"2", _LONG_LINK) and not is_link:
        raise errors.ENTRY_LINK.refusal().at(label)
    if header.kind == _SPARSE:
        raise errors.ENTRY_SPARSE.refusal().at(label)
    if header.kind not in (*_FILES, _FOLDER) and not is_link:
        raise errors.ENTRY_SPECIAL.refusal(kind=_KINDS.get(header.kind, printable(repr(header.kind)))).at(
            label
        )
    if len(body) > limits.file:
        raise errors.FILE_TOO_LARGE.refusal(limit=limits.file).at(label)
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise errors.PATH_NOT_UTF8.refusal().at(label) from None
    if is_link:
        return ArchiveEntry(name, b"", link=header.link.decode("utf-8", "replace"))
    is_folder = header.kind == _FOLDER or (header.kind == b"\0" and name.endswith("/"))
    if is_folder and body:
        raise errors.ARCHIVE_DISAGREES.refusal(reason=gettext_noop("a folder entry contains data")).at(label)
    if name.endswith("/") and not is_folder:
        raise errors.ARCHIVE_DISAGREES.refusal(
            reason=gettext_noop("the name of a file entry ends with a slash")
        ).at(label)
    if not name or name == "." or name == "./":
        return ArchiveEntry("", None) if is_folder else ArchiveEntry("/", body)
    return ArchiveEntry(name.removesuffix("/"), None if is_folder else body, bool(header.mode & 0o111))


def _printable_name(raw: bytes) -> str:
    return printable(raw.decode("utf-8", "backslashreplace"))
