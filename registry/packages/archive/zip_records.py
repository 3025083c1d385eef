"""A strict parser for zip records: refuses everything that two zip readers could interpret differently.

Layout: local records from byte 0 without gaps, the directory, for zip64 its end record and locator, and the
end record with its comment. The fields are defined in APPNOTE 6.3.10.
"""

import struct
from dataclasses import dataclass

from registry.packages import errors
from registry.packages.archive.paths import printable
from registry.packages.limits import Limits
from registry.packages.problems import LazyMessage, Refusal, gettext_noop

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000
_DESCRIPTOR = 0x0008
_FLAGS = 0x0002 | 0x0004 | _DESCRIPTOR | 0x0800  # deflate level, descriptor, UTF-8 names
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075


@dataclass(frozen=True)
class Record:
    """A directory entry. ``packed`` and ``size`` are its compressed and uncompressed size in bytes.

    ``start`` is the offset of its data; it is set once the local record has been checked.
    """

    name: str
    method: int
    flags: int
    crc: int
    packed: int
    size: int
    mode: int  # Unix file type and permissions; 0 if the archive was not created on Unix
    is_dos_folder: bool
    offset: int
    raw_name: bytes
    start: int = 0


@dataclass(frozen=True)
class _End:
    count: int
    size: int
    offset: int
    position: int  # offset of the first end record, where the directory must end


def read_records(data: bytes, limits: Limits) -> tuple[Record, ...]:
    """All entries in the order of their data.

    Raises Refusal if the archive has too many entries or is malformed, or if its local records and directory
    disagree.
    """
    try:
        end = _read_end(data)
        if end.count > limits.entries:
            raise errors.ARCHIVE_TOO_MANY_ENTRIES.refusal(limit=limits.entries)
        return _match_locals(data, _read_directory(data, end), end)
    except struct.error:
        raise errors.ARCHIVE_TRUNCATED.refusal(
            reason=gettext_noop("a record extends past the end of the file")
        ) from None


def _read_end(data: bytes) -> _End:
    position = _find_end(data)
    _, disk, first_disk, here, count, size, offset, _ = _END.unpack_from(data, position)
    locator = position - _LOCATOR.size
    if locator >= 0 and data[locator : locator + 4] == b"PK\x06\x07":
        return _read_end64(data, locator, (here, count, size, offset))
    if disk or first_disk or here != count:
        raise errors.ARCHIVE_SPLIT.refusal()
    return _check_end(_End(count, size, offset, position))


def _find_end(data: bytes) -> int:
    """The offset of the only end record whose comment ends exactly at the end of the data.

    Raises Refusal if there is no such record, or if another signature of an end record follows.
    """
    tail = max(0, len(data) - _END.size - _MAX16)
    positions = []
    position = data.find(b"PK\x05\x06", tail)
    while position >= 0:
        if position + _END.size <= len(data):
            comment = int.from_bytes(data[position + 20 : position + 22], "little")
            if position + _END.size + comment == len(data):
                positions.append(position)
        position = data.find(b"PK\x05\x06", position + 1)
    if not positions:
        raise errors.ARCHIVE_TRUNCATED.refusal(
            reason=gettext_noop("its end record is missing or followed by other data")
        )
    if len(positions) > 1 or b"PK\x05\x06" in data[positions[0] + 4 :]:
        raise errors.ARCHIVE_AMBIGUOUS.refusal(reason=gettext_noop("it has more than one end record"))
    return positions[0]


def _read_end64(data: bytes, locator: int, short: tuple[int, int, int, int]) -> _End:
    _, locator_disk, position, disks = _LOCATOR.unpack_from(data, locator)
    if position + _END64.size > locator or data[position : position + 4] != b"PK\x06\x06":
        raise errors.ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("its zip64 end record is in the wrong place")
        )
    _, length, _, _, disk, first_disk, here, count, size, offset = _END64.unpack_from(data, position)
    if position + 12 + length != locator:
        raise errors.ARCHIVE_GAPS.refusal(reason=gettext_noop("there is data after the zip64 end record"))
    if locator_disk or disk or first_disk or disks > 1 or here != count:
        raise errors.ARCHIVE_SPLIT.refusal()
    for short_value, value, unset in zip(
        short, (here, count, size, offset), (_MAX16, _MAX16, _MAX32, _MAX32), strict=True
    ):
        if short_value not in (value, unset):
            raise errors.ARCHIVE_DISAGREES.refusal(reason=gettext_noop("its two end records differ"))
    return _check_end(_End(count, size, offset, position))


def _check_end(end: _End) -> _End:
    if end.offset + end.size != end.position:
        raise errors.ARCHIVE_GAPS.refusal(
            reason=gettext_noop(
                "its list of files (central directory) is not directly followed by its end record"
            )
        )
    return end


def _read_directory(data: bytes, end: _End) -> list[Record]:
    records = []
    position = end.offset
    for _ in range(end.count):
        record, position = _read_entry(data, position)
        records.append(record)
    if position != end.position:
        raise errors.ARCHIVE_DISAGREES.refusal(
            reason=gettext_noop(
                "the number of entries in its central directory differs from the number in its end record"
            )
        )
    return records


def _read_entry(data: bytes, position: int) -> tuple[Record, int]:
    fields = _CENTRAL.unpack_from(data, position)
    signature, maker, _, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length = (
        fields[:13]
    )
    disk, _, attributes, offset = fields[13:]
    if signature != b"PK\x01\x02":
        raise errors.ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("an entry of its central directory is invalid")
        )
    name_at = position + _CENTRAL.size
    after = name_at + name_length + extra_length + comment_length
    if after > len(data):
        raise errors.ARCHIVE_TRUNCATED.refusal(
            reason=gettext_noop("the central directory extends past the end of the file")
        )
    raw_name = data[name_at : name_at + name_length]
    name = _decode(raw_name)
    extra = _extra_fields(data[name_at + name_length : name_at + name_length + extra_length], name)
    size, packed, offset = _apply_zip64(extra, name, size, packed, offset)
    if disk not in (0, _MAX16):
        raise errors.ARCHIVE_SPLIT.refusal().at(printable(name))
    mode = attributes >> 16 if maker >> 8 in (3, 19) or attributes >> 28 else 0
    return (
        Record(name, method, flags, crc, packed, size, mode, bool(attributes & 0x10), offset, raw_name),
        after,
    )


def _decode(raw_name: bytes) -> str:
    """The name decoded as UTF-8. Ignores the UTF-8 flag, because macOS Finder does not set it.

    Raises PATH_NOT_UTF8 for other encodings.
    """
    try:
        return raw_name.decode("utf-8")
    except UnicodeDecodeError:
        raise errors.PATH_NOT_UTF8.refusal().at(
            printable(raw_name.decode("utf-8", "backslashreplace"))
        ) from None


def _extra_fields(extra: bytes, name: str) -> dict[int, bytes]:
    """The extra fields by id. Trailing bytes that form no field are ignored, as in other zip readers.

    Raises Refusal for a second zip64 or name field, and for a name field that differs from ``name``.
    """
    fields: dict[int, bytes] = {}
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        value = extra[position + 4 : position + 4 + length]
        if kind in fields and kind in (_ZIP64, _UNICODE_PATH):
            raise errors.ARCHIVE_AMBIGUOUS.refusal(
                reason=gettext_noop("an entry has the same zip extra field twice")
            ).at(printable(name))
        fields[kind] = value
        position += 4 + length
    other = fields.get(_UNICODE_PATH)
    if other is not None and other[5:] != name.encode():
        raise errors.ARCHIVE_DISAGREES.refusal(reason=gettext_noop("an entry has two different names")).at(
            printable(name)
        )
    return fields


def _apply_zip64(extra: dict[int, bytes], name: str, *values: int) -> tuple[int, ...]:
    """The values, with each 0xFFFFFFFF replaced by the next value of the zip64 field.

    Raises ARCHIVE_DAMAGED if this field is missing or too short.
    """
    if _MAX32 not in values:
        return values
    zip64 = extra.get(_ZIP64, b"")
    needed = values.count(_MAX32)
    if len(zip64) < 8 * needed:
        raise errors.ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("the zip64 field of an entry is missing or too short")
        ).at(printable(name))
    replacements = iter(struct.unpack_from(f"<{needed}Q", zip64))
    return tuple(next(replacements) if value == _MAX32 else value for value in values)


def _match_locals(data: bytes, records: list[Record], end: _End) -> tuple[Record, ...]:
    """The records in data order, with ``start`` set.

    Raises Refusal if a local record differs, and for gaps or overlaps before the directory.
    """
    ordered = sorted(records, key=lambda record: record.offset)
    matched = []
    expected = 0
    for index, record in enumerate(ordered):
        if record.offset != expected:
            text = gettext_noop("the entry starts at byte %(start)s, not %(expected)s")
            reason = LazyMessage(text, start=record.offset, expected=expected)
            raise errors.ARCHIVE_GAPS.refusal(reason=reason).at(printable(record.name))
        expected = ordered[index + 1].offset if index + 1 < len(ordered) else end.offset
        matched.append(_match_local(data, record, expected))
    if expected != end.offset:
        raise errors.ARCHIVE_GAPS.refusal(
            reason=gettext_noop("its list of files (central directory) is empty, but there is data before it")
        )
    return tuple(matched)


def _match_local(data: bytes, record: Record, next_offset: int) -> Record:
    fields = _LOCAL.unpack_from(data, record.offset)
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    if signature != b"PK\x03\x04":
        raise errors.ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("the local header of an entry is not at the recorded position")
        ).at(printable(record.name))
    name_at = record.offset + _LOCAL.size
    start = name_at + name_length + extra_length
    if data[name_at : name_at + name_length] != record.raw_name:
        raise _disagreement(
            record, gettext_noop("the name of the entry differs from the one in the central directory")
        )
    if flags != record.flags or method != record.method:
        raise _disagreement(
            record,
            gettext_noop(
                "the flags or compression method of the entry differ from those in the central directory"
            ),
        )
    extra = _extra_fields(data[name_at + name_length : start], record.name)
    size, packed = _apply_zip64(extra, record.name, size, packed)
    local_values, central_values = (crc, packed, size), (record.crc, record.packed, record.size)
    has_descriptor = bool(flags & _DESCRIPTOR)
    if any(
        one != other and not (has_descriptor and one == 0)
        for one, other in zip(local_values, central_values, strict=True)
    ):
        raise _disagreement(
            record,
            gettext_noop("the checksum or sizes of the entry differ from those in the central directory"),
        )
    _check_tail(
        data[start + record.packed : next_offset] if next_offset >= start + record.packed else None, record
    )
    return Record(**{**record.__dict__, "start": start})


def _disagreement(record: Record, reason: str) -> Refusal:
    return errors.ARCHIVE_DISAGREES.refusal(reason=reason).at(printable(record.name))


def _check_tail(tail: bytes | None, record: Record) -> None:
    """Raises Refusal unless ``tail`` is empty or a data descriptor that matches the directory record.

    ``tail`` is None if the data of the entry overlaps the data that follows.
    """
    if tail is None:
        raise errors.ARCHIVE_GAPS.refusal(reason=gettext_noop("an entry overlaps the data after it")).at(
            printable(record.name)
        )
    if not record.flags & _DESCRIPTOR:
        if tail:
            raise errors.ARCHIVE_GAPS.refusal(reason=gettext_noop("there is extra data after an entry")).at(
                printable(record.name)
            )
        return
    forms = [struct.pack("<IQQ", record.crc, record.packed, record.size)]
    if record.packed <= _MAX32 and record.size <= _MAX32:
        forms.append(struct.pack("<III", record.crc, record.packed, record.size))
    if not any(tail in (form, b"PK\x07\x08" + form) for form in forms):
        raise _disagreement(
            record,
            gettext_noop("the data descriptor of the entry doesn't match the central directory"),
        )


def check_readable(record: Record) -> None:
    """Raises Refusal for encryption, unknown flags or methods, and stored data whose two sizes differ."""
    label = printable(record.name)
    if record.flags & _ENCRYPTED:
        raise errors.ARCHIVE_ENCRYPTED.refusal().at(label)
    if record.method not in (0, 8):
        raise errors.ARCHIVE_METHOD.refusal(method=record.method).at(label)
    if record.flags & ~_FLAGS:
        reason = LazyMessage(gettext_noop("unknown flags %(flags)s"), flags=f"{record.flags:#06x}")
        raise errors.ARCHIVE_DAMAGED.refusal(reason=reason).at(label)
    if record.method == 0 and record.packed != record.size:
        raise errors.ARCHIVE_DISAGREES.refusal(
            reason=gettext_noop(
                "an entry is stored uncompressed, but its compressed and uncompressed sizes differ"
            )
        ).at(label)
