"""Builds the archive that is stored and served, byte for byte the same on every machine.

Entries are not compressed: zlib builds compress differently, and the digest must not depend on them.
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from registry.packages.archive.layout import SKILL_MD
from registry.packages.archive.paths import check_paths, normalize_path, printable
from registry.packages.archive.zip_reader import read_zip
from registry.packages.errors import FILE_UNREADABLE
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.problems import Refusal

_DATE = 0x0021  # 1 January 1980, the earliest date in the zip format
_UTF8 = 0x0800
_UNIX = 3 << 8 | 20
_NO_LIMITS = Limits(archive=1 << 31, unpacked=1 << 31, file=1 << 31, entries=0xFFFF)


def digest_of(data: bytes) -> str:
    """The SHA-256 digest in the form ``sha256:`` plus 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def repack(files: Iterable[PackageFile]) -> bytes:
    """A zip of the files: SKILL.md first, the rest sorted, with fixed dates and modes and no extra fields."""
    local, central = bytearray(), bytearray()
    count = 0
    for file in archive_order(files):
        name, size = file.path.encode(), len(file.data)
        shared = struct.pack(
            "<HHHHIIIHH", _UTF8, 0, 0, _DATE, zlib.crc32(file.data), size, size, len(name), 0
        )
        mode = 0o100755 if file.executable else 0o100644
        central += b"PK\x01\x02" + struct.pack("<HH", _UNIX, 20) + shared
        central += struct.pack("<HHHII", 0, 0, 0, mode << 16, len(local)) + name
        local += b"PK\x03\x04" + struct.pack("<H", 20) + shared + name + file.data
        count += 1
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(central), len(local), 0)
    return bytes(local + central + end)


def archive_order(files: Iterable[PackageFile]) -> list[PackageFile]:
    return sorted(files, key=lambda file: (file.path != SKILL_MD, file.path.encode()))


def repacked_size(files: Iterable[PackageFile]) -> int:
    """The number of bytes of the archive that ``repack`` builds."""
    return 22 + sum(76 + 2 * len(file.path.encode()) + len(file.data) for file in files)


def read_repacked(archive: bytes) -> tuple[PackageFile, ...]:
    """The files of an archive that ``repack`` created. Raises Refusal if it is damaged or has bad paths."""
    entries = read_zip(archive, _NO_LIMITS)
    if bad := check_paths(entries, _NO_LIMITS):
        raise Refusal(*bad)
    return tuple(
        PackageFile(normalize_path(entry.path), entry.data, entry.executable)
        for entry in entries
        if entry.data is not None
    )


def unpack(archive: bytes, into: Path) -> None:
    """Unpacks an archive made by ``repack`` into the folder ``into``, which is created if missing.

    Raises Refusal like ``read_repacked`` and ``unpack_files``.
    """
    unpack_files(read_repacked(archive), into)


def unpack_files(files: Iterable[PackageFile], into: Path) -> None:
    """Writes files into the folder ``into``, which is created if missing. The caller must check their paths.

    Raises FILE_UNREADABLE instead of following a symbolic link or replacing a file, and for other OS errors.
    """
    try:
        into.mkdir(mode=0o755, exist_ok=True)
        root = os.open(into, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for file in files:
                _write(root, file)
        finally:
            os.close(root)
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(into.name)) from error


def _write(root: int, file: PackageFile) -> None:
    *folders, name = file.path.split("/")
    with ExitStack() as open_folders:
        folder = root
        for part in folders:
            folder = _enter(folder, part)
            open_folders.callback(os.close, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as target:
            target.write(file.data)
            os.fchmod(target.fileno(), 0o755 if file.executable else 0o644)


def _enter(folder: int, part: str) -> int:
    """Returns a new file descriptor of a subfolder, which is created if missing.

    Raises OSError if the subfolder is a symbolic link or a file.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.mkdir(part, 0o755, dir_fd=folder)
    except FileExistsError:
        return os.open(part, flags, dir_fd=folder)
    created = os.open(part, flags, dir_fd=folder)
    os.fchmod(created, 0o755)
    return created
