"""A stranger's tar.gz → entries, under the same rules as a zip. Formats: ustar, GNU long names, pax."""

from __future__ import annotations

import re
from dataclasses import dataclass

from registry.packages.entries import Entry
from registry.packages.inflate import gunzip
from registry.packages.limits import Limits
from registry.packages.paths import shown
from registry.packages.problems import Refused, gettext_noop, refuse

_BLOCK = 512
_FILES, _FOLDER = (b"0", b"\0", b"7"), b"5"
_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
_KINDS = {b"3": "character device", b"4": "block device", b"6": "fifo", b"S": "sparse file"}
_HEADER_BODY = 64 * 1024  # of a pax or long-name record: far above any path
_OCTAL = re.compile(rb"[ \0]*([0-7]*)[ \0]*")


@dataclass(frozen=True)
class _Header:
    name: bytes
    mode: int
    size: int
    kind: bytes
    link: bytes = b""


@dataclass(frozen=True)
class _Next:
    """What pax and long-name records say of the entry that follows them."""

    name: bytes | None = None
    size: int | None = None


def read_tar_gz(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[Entry, ...]:
    """Every file and folder of a gzip-compressed tar."""
    unpacked = gunzip(data, limits.unpacked + limits.entries * 4 * _BLOCK + (1 << 20))
    return read_tar(unpacked, limits, with_links=with_links)


def read_tar(data: bytes, limits: Limits, *, with_links: bool = False) -> tuple[Entry, ...]:
    """Every file and folder; the archive must end with zero blocks and nothing behind them."""
    entries: list[Entry] = []
    position, total, following = 0, 0, _Next()
    while data[position : position + _BLOCK].strip(b"\0"):
        header = _read_header(data, position)
        body = position + _BLOCK
        size = header.size if following.size is None else following.size
        position = body + -(-size // _BLOCK) * _BLOCK
        if position > len(data):
            raise refuse(
                "ARCHIVE_TRUNCATED",
                path=_place(header.name),
                reason=gettext_noop("an entry reaches beyond the end"),
            )
        if header.kind in (_PAX, _PAX_GLOBAL, _LONG_NAME):
            following = _read_extension(header, data[body : body + size], following)
            continue
        if with_links and header.kind == _LONG_LINK:
            continue  # its target is longer than a header holds: the link that follows leads nowhere
        entry = _entry(header, following, data[body : body + size], limits, with_links=with_links)
        following = _Next()
        total += size
        if total > limits.unpacked:
            raise refuse("PACKAGE_TOO_LARGE", limit=limits.unpacked)
        if entry.path:
            entries.append(entry)
        if len(entries) > limits.entries:
            raise refuse("ARCHIVE_TOO_MANY_ENTRIES", limit=limits.entries)
    _check_end(data, position, following)
    return tuple(entries)


def _check_end(data: bytes, position: int, following: _Next) -> None:
    if len(data) - position < 2 * _BLOCK:
        raise refuse("ARCHIVE_TRUNCATED", reason=gettext_noop("the two zero blocks at its end are missing"))
    if data.count(0, position) != len(data) - position:
        raise refuse("ARCHIVE_GAPS", reason=gettext_noop("something follows the end of the archive"))
    if following != _Next():
        raise refuse(
            "ARCHIVE_DAMAGED", reason=gettext_noop("its last record describes an entry that is not there")
        )


def _read_header(data: bytes, position: int) -> _Header:
    block = data[position : position + _BLOCK]
    if len(block) < _BLOCK:
        raise refuse("ARCHIVE_TRUNCATED", reason=gettext_noop("a header reaches beyond the end"))
    if _number(block[148:156]) != sum(block[:148]) + sum(block[156:]) + 8 * 32:
        raise refuse("ARCHIVE_DAMAGED", reason=f"the header at byte {position} has a wrong checksum")
    name = block[:100].partition(b"\0")[0]
    if block[257:263] == b"ustar\0" and (prefix := block[345:500].partition(b"\0")[0]):
        name = prefix + b"/" + name
    link = block[157:257].partition(b"\0")[0]
    return _Header(name, _number(block[100:108]), _number(block[124:136]), block[156:157], link)


def _number(field: bytes) -> int:
    """Octal text, or GNU's big-endian form for large sizes."""
    if field[0] & 0x80:
        if field[0] != 0x80:
            raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a number in a header is negative"))
        return int.from_bytes(field[1:], "big")
    match = _OCTAL.fullmatch(field)
    if not match:
        raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a number in a header is not one"))
    return int(match[1] or b"0", 8)


def _read_extension(header: _Header, body: bytes, following: _Next) -> _Next:
    if len(body) > _HEADER_BODY:
        raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a record about names is too large"))
    if header.kind == _LONG_NAME:
        if following.name is not None:
            raise _two_names()
        return _Next(body.partition(b"\0")[0], following.size)
    fields = _pax_fields(body)
    if any(name.startswith(b"GNU.sparse") for name in fields):
        raise refuse("ENTRY_SPECIAL", kind="sparse file")
    if header.kind == _PAX_GLOBAL:
        if fields.keys() & {b"path", b"size", b"linkpath"}:
            raise refuse("ARCHIVE_AMBIGUOUS", reason=gettext_noop("one name or size is given to all entries"))
        return following
    if following != _Next():
        raise _two_names()
    size = fields.get(b"size")
    if size is not None and not re.fullmatch(rb"[0-9]{1,15}", size):
        raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a size is not a number"))
    return _Next(fields.get(b"path"), None if size is None else int(size))


def _two_names() -> Refused:
    return refuse("ARCHIVE_AMBIGUOUS", reason=gettext_noop("an entry is described twice"))


def _pax_fields(body: bytes) -> dict[bytes, bytes]:
    """Records ``<length> <key>=<value>\\n``, the length counting the whole record."""
    fields: dict[bytes, bytes] = {}
    position = 0
    while position < len(body):
        match = re.compile(rb"([1-9][0-9]{0,6}) ").match(body, position)
        end = position + int(match[1]) if match else 0
        if not match or end > len(body) or end <= match.end() or body[end - 1 : end] != b"\n":
            raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a pax record is not one"))
        name, equals, value = body[match.end() : end - 1].partition(b"=")
        if not equals or name in fields:
            raise refuse(
                "ARCHIVE_AMBIGUOUS", reason=gettext_noop("a pax record stands there twice or has no value")
            )
        fields[name] = value
        position = end
    return fields


def _entry(header: _Header, following: _Next, body: bytes, limits: Limits, *, with_links: bool) -> Entry:
    raw = header.name if following.name is None else following.name
    place = _place(raw)
    is_link = with_links and header.kind == b"2"
    if header.kind in (b"1", b"2", _LONG_LINK) and not is_link:
        raise refuse("ENTRY_LINK", path=place)
    if header.kind not in (*_FILES, _FOLDER) and not is_link:
        raise refuse("ENTRY_SPECIAL", path=place, kind=_KINDS.get(header.kind, shown(repr(header.kind))))
    if len(body) > limits.file:
        raise refuse("FILE_TOO_LARGE", path=place, limit=limits.file)
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse("PATH_NOT_UTF8", path=place) from None
    if is_link:
        return Entry(name, b"", link=header.link.decode("utf-8", "replace"))
    is_folder = header.kind == _FOLDER or (header.kind == b"\0" and name.endswith("/"))
    if is_folder and body:
        raise refuse("ARCHIVE_DISAGREES", path=place, reason=gettext_noop("it is a folder with contents"))
    if name.endswith("/") and not is_folder:
        raise refuse(
            "ARCHIVE_DISAGREES", path=place, reason=gettext_noop("it is a file with the name of a folder")
        )
    if not name or name == "." or name == "./":
        return Entry("", None) if is_folder else Entry("/", body)
    return Entry(name.removesuffix("/"), None if is_folder else body, bool(header.mode & 0o111))


def _place(raw: bytes) -> str:
    return shown(raw.decode("utf-8", "backslashreplace"))
