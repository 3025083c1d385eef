"""The records of a zip, walked by ourselves: what two readers could read differently is refused.

Layout: local records from byte 0 without a gap, then the directory, then (zip64) record and locator, then the
end record with its comment. APPNOTE 6.3.10 gives the fields.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from registry.packages.limits import Limits
from registry.packages.paths import shown
from registry.packages.problems import Refused, gettext_noop, refuse

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000
_DESCRIPTOR = 0x0008
_FLAGS = 0x0002 | 0x0004 | _DESCRIPTOR | 0x0800  # deflate's level, descriptor, UTF-8 names
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075


@dataclass(frozen=True)
class Record:
    """One entry, of which both records say the same; its bytes are ``packed`` from ``start``."""

    name: str
    method: int
    flags: int
    crc: int
    packed: int
    size: int
    mode: int  # Unix file type and permissions, 0 where the maker was no Unix
    is_dos_folder: bool
    offset: int
    raw_name: bytes
    start: int = 0


@dataclass(frozen=True)
class _End:
    count: int
    size: int
    offset: int
    position: int  # where the first end record begins: the directory must reach to it


def read_records(data: bytes, limits: Limits) -> tuple[Record, ...]:
    """Every entry in the order of its bytes, after local records and directory were found to agree."""
    try:
        end = _read_end(data)
        if end.count > limits.entries:
            raise refuse("ARCHIVE_TOO_MANY_ENTRIES", limit=limits.entries)
        return _match_locals(data, _read_directory(data, end), end)
    except struct.error:
        raise refuse("ARCHIVE_TRUNCATED", reason=gettext_noop("a record reaches beyond the end")) from None


def _read_end(data: bytes) -> _End:
    position = _find_end(data)
    _, disk, first_disk, here, count, size, offset, _ = _END.unpack_from(data, position)
    locator = position - _LOCATOR.size
    if locator >= 0 and data[locator : locator + 4] == b"PK\x06\x07":
        return _read_end64(data, locator, (here, count, size, offset))
    if disk or first_disk or here != count:
        raise refuse("ARCHIVE_SPLIT")
    return _checked_end(_End(count, size, offset, position))


def _find_end(data: bytes) -> int:
    """Where the one end record is whose comment reaches exactly to the end of the data."""
    tail = max(0, len(data) - _END.size - _MAX16)
    found = []
    position = data.find(b"PK\x05\x06", tail)
    while position >= 0:
        if position + _END.size <= len(data):
            comment = int.from_bytes(data[position + 20 : position + 22], "little")
            if position + _END.size + comment == len(data):
                found.append(position)
        position = data.find(b"PK\x05\x06", position + 1)
    if not found:
        raise refuse(
            "ARCHIVE_TRUNCATED", reason=gettext_noop("it has no end record, or something follows it")
        )
    if len(found) > 1 or b"PK\x05\x06" in data[found[0] + 4 :]:
        raise refuse("ARCHIVE_AMBIGUOUS", reason=gettext_noop("it has more than one end record"))
    return found[0]


def _read_end64(data: bytes, locator: int, short: tuple[int, int, int, int]) -> _End:
    _, locator_disk, position, disks = _LOCATOR.unpack_from(data, locator)
    if position + _END64.size > locator or data[position : position + 4] != b"PK\x06\x06":
        raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("its zip64 end record is not where it should be"))
    _, length, _, _, disk, first_disk, here, count, size, offset = _END64.unpack_from(data, position)
    if position + 12 + length != locator:
        raise refuse("ARCHIVE_GAPS", reason=gettext_noop("something lies behind the zip64 end record"))
    if locator_disk or disk or first_disk or disks > 1 or here != count:
        raise refuse("ARCHIVE_SPLIT")
    for said, meant, unset in zip(
        short, (here, count, size, offset), (_MAX16, _MAX16, _MAX32, _MAX32), strict=True
    ):
        if said not in (meant, unset):
            raise refuse("ARCHIVE_DISAGREES", reason=gettext_noop("its two end records differ"))
    return _checked_end(_End(count, size, offset, position))


def _checked_end(end: _End) -> _End:
    if end.offset + end.size != end.position:
        raise refuse(
            "ARCHIVE_GAPS",
            reason=gettext_noop("the directory does not reach from its place to the end record"),
        )
    return end


def _read_directory(data: bytes, end: _End) -> list[Record]:
    records = []
    position = end.offset
    for _ in range(end.count):
        record, position = _read_entry(data, position)
        records.append(record)
    if position != end.position:
        raise refuse(
            "ARCHIVE_DISAGREES",
            reason=gettext_noop("the directory has more or fewer entries than the end record says"),
        )
    return records


def _read_entry(data: bytes, position: int) -> tuple[Record, int]:
    fields = _CENTRAL.unpack_from(data, position)
    signature, maker, _, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length = (
        fields[:13]
    )
    disk, _, attributes, offset = fields[13:]
    if signature != b"PK\x01\x02":
        raise refuse("ARCHIVE_DAMAGED", reason=gettext_noop("a directory entry is not one"))
    name_at = position + _CENTRAL.size
    after = name_at + name_length + extra_length + comment_length
    if after > len(data):
        raise refuse("ARCHIVE_TRUNCATED", reason=gettext_noop("the directory reaches beyond the end"))
    raw_name = data[name_at : name_at + name_length]
    name = _decode(raw_name)
    extra = _extra_fields(data[name_at + name_length : name_at + name_length + extra_length], name)
    size, packed, offset = _widened(extra, name, size, packed, offset)
    if disk not in (0, _MAX16):
        raise refuse("ARCHIVE_SPLIT", path=shown(name))
    mode = attributes >> 16 if maker >> 8 in (3, 19) or attributes >> 28 else 0
    return (
        Record(name, method, flags, crc, packed, size, mode, bool(attributes & 0x10), offset, raw_name),
        after,
    )


def _decode(raw_name: bytes) -> str:
    """UTF-8 whatever the flag says: Finder writes UTF-8 without it."""
    try:
        return raw_name.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse("PATH_NOT_UTF8", path=shown(raw_name.decode("utf-8", "backslashreplace"))) from None


def _extra_fields(extra: bytes, name: str) -> dict[int, bytes]:
    """By id; what is no list of fields (zipalign pads with zeros) is nobody's reading and ignored."""
    fields: dict[int, bytes] = {}
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        value = extra[position + 4 : position + 4 + length]
        if kind in fields and kind in (_ZIP64, _UNICODE_PATH):
            raise refuse(
                "ARCHIVE_AMBIGUOUS",
                path=shown(name),
                reason=gettext_noop("an extra field stands there twice"),
            )
        fields[kind] = value
        position += 4 + length
    other = fields.get(_UNICODE_PATH)
    if other is not None and other[5:] != name.encode():
        raise refuse("ARCHIVE_DISAGREES", path=shown(name), reason=gettext_noop("it has two names"))
    return fields


def _widened(extra: dict[int, bytes], name: str, *values: int) -> tuple[int, ...]:
    """The 32-bit values, those that are all ones replaced from the zip64 field, in its fixed order."""
    if _MAX32 not in values:
        return values
    wide = extra.get(_ZIP64, b"")
    needed = values.count(_MAX32)
    if len(wide) < 8 * needed:
        raise refuse(
            "ARCHIVE_DAMAGED", path=shown(name), reason=gettext_noop("its zip64 field is missing or short")
        )
    replacements = iter(struct.unpack_from(f"<{needed}Q", wide))
    return tuple(next(replacements) if value == _MAX32 else value for value in values)


def _match_locals(data: bytes, records: list[Record], end: _End) -> tuple[Record, ...]:
    """Local records must follow one another from byte 0 to the directory: no gap, overlap or ghost."""
    ordered = sorted(records, key=lambda record: record.offset)
    matched = []
    expected = 0
    for index, record in enumerate(ordered):
        if record.offset != expected:
            raise refuse(
                "ARCHIVE_GAPS", path=shown(record.name), reason=f"byte {record.offset} instead of {expected}"
            )
        expected = ordered[index + 1].offset if index + 1 < len(ordered) else end.offset
        matched.append(_match_local(data, record, expected))
    if expected != end.offset:
        raise refuse("ARCHIVE_GAPS", reason=gettext_noop("something lies before the directory"))
    return tuple(matched)


def _match_local(data: bytes, record: Record, following: int) -> Record:
    fields = _LOCAL.unpack_from(data, record.offset)
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    if signature != b"PK\x03\x04":
        raise refuse(
            "ARCHIVE_DAMAGED",
            path=shown(record.name),
            reason=gettext_noop("its local record is not where it should be"),
        )
    name_at = record.offset + _LOCAL.size
    start = name_at + name_length + extra_length
    if data[name_at : name_at + name_length] != record.raw_name:
        raise _differs(record, "name")
    if flags != record.flags or method != record.method:
        raise _differs(record, "flags or method")
    extra = _extra_fields(data[name_at + name_length : start], record.name)
    size, packed = _widened(extra, record.name, size, packed)
    said, meant = (crc, packed, size), (record.crc, record.packed, record.size)
    streamed = bool(flags & _DESCRIPTOR)
    if any(one != other and not (streamed and one == 0) for one, other in zip(said, meant, strict=True)):
        raise _differs(record, "checksum or sizes")
    _check_tail(
        data[start + record.packed : following] if following >= start + record.packed else None, record
    )
    return Record(**{**record.__dict__, "start": start})


def _differs(record: Record, what: str) -> Refused:
    return refuse(
        "ARCHIVE_DISAGREES", path=shown(record.name), reason=f"{what} here and in the directory differ"
    )


def _check_tail(tail: bytes | None, record: Record) -> None:
    """Behind an entry's bytes lies nothing, or a data descriptor that equals the directory."""
    if tail is None:
        raise refuse("ARCHIVE_GAPS", path=shown(record.name), reason=gettext_noop("it overlaps what follows"))
    if not record.flags & _DESCRIPTOR:
        if tail:
            raise refuse(
                "ARCHIVE_GAPS", path=shown(record.name), reason=gettext_noop("something lies behind it")
            )
        return
    forms = [struct.pack("<IQQ", record.crc, record.packed, record.size)]
    if record.packed <= _MAX32 and record.size <= _MAX32:
        forms.append(struct.pack("<III", record.crc, record.packed, record.size))
    if not any(tail in (form, b"PK\x07\x08" + form) for form in forms):
        raise _differs(record, "data descriptor")


def check_readable(record: Record) -> None:
    """Refuses encryption and methods other than stored and deflate."""
    place = shown(record.name)
    if record.flags & _ENCRYPTED:
        raise refuse("ARCHIVE_ENCRYPTED", path=place)
    if record.method not in (0, 8):
        raise refuse("ARCHIVE_METHOD", path=place, method=record.method)
    if record.flags & ~_FLAGS:
        raise refuse("ARCHIVE_DAMAGED", path=place, reason=f"unknown flags {record.flags:#06x}")
    if record.method == 0 and record.packed != record.size:
        raise refuse(
            "ARCHIVE_DISAGREES", path=place, reason=gettext_noop("it is stored, yet its two sizes differ")
        )
