"""The one archive that is stored and served: made by us, byte for byte the same on every machine.

Entries are stored, not deflated: builds of zlib compress differently, and the digest must not depend on them.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from registry.packages.layout import SKILL_MD
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.paths import check_paths, plain, shown
from registry.packages.problems import Refused, refuse
from registry.packages.zip_archive import read_zip

_DATE = 0x0021  # 1 January 1980, the first day that a zip can say
_UTF8 = 0x0800
_UNIX = 3 << 8 | 20
_NO_LIMITS = Limits(archive=1 << 31, unpacked=1 << 31, file=1 << 31, entries=0xFFFF)


def digest_of(data: bytes) -> str:
    """``sha256:`` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def repack(files: Iterable[PackageFile]) -> bytes:
    """A zip of these files: sorted, SKILL.md first, fixed dates and modes, no extra fields."""
    local, central = bytearray(), bytearray()
    count = 0
    for file in sorted(files, key=lambda file: (file.path != SKILL_MD, file.path.encode())):
        name, size = file.path.encode(), len(file.data)
        same = struct.pack("<HHHHIIIHH", _UTF8, 0, 0, _DATE, zlib.crc32(file.data), size, size, len(name), 0)
        mode = 0o100755 if file.executable else 0o100644
        central += b"PK\x01\x02" + struct.pack("<HH", _UNIX, 20) + same
        central += struct.pack("<HHHII", 0, 0, 0, mode << 16, len(local)) + name
        local += b"PK\x03\x04" + struct.pack("<H", 20) + same + name + file.data
        count += 1
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(central), len(local), 0)
    return bytes(local + central + end)


def read_repacked(archive: bytes) -> tuple[PackageFile, ...]:
    """The files of an archive that ``repack`` made."""
    entries = read_zip(archive, _NO_LIMITS)
    if bad := check_paths(entries, _NO_LIMITS):
        raise Refused(*bad)
    return tuple(
        PackageFile(plain(entry.path), entry.data, entry.executable)
        for entry in entries
        if entry.data is not None
    )


def unpack(archive: bytes, into: Path) -> None:
    """Writes our own archive below ``into``, which is made if absent; follows no link, replaces nothing."""
    unpack_files(read_repacked(archive), into)


def unpack_files(files: Iterable[PackageFile], into: Path) -> None:
    """Writes files with checked paths below ``into`` in the same way."""
    try:
        into.mkdir(mode=0o755, exist_ok=True)
        root = os.open(into, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for file in files:
                _write(root, file)
        finally:
            os.close(root)
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(into.name), reason=error.strerror or "") from error


def _write(root: int, file: PackageFile) -> None:
    *folders, name = file.path.split("/")
    with ExitStack() as opened:
        folder = root
        for part in folders:
            folder = _enter(folder, part)
            opened.callback(os.close, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as target:
            target.write(file.data)
            os.fchmod(target.fileno(), 0o755 if file.executable else 0o644)


def _enter(folder: int, part: str) -> int:
    """Opens the folder below, made if absent: an earlier file's is there, a link in its place fails."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.mkdir(part, 0o755, dir_fd=folder)
    except FileExistsError:
        return os.open(part, flags, dir_fd=folder)
    made = os.open(part, flags, dir_fd=folder)
    os.fchmod(made, 0o755)
    return made
