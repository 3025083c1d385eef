"""A version on its way out: its files as they are, or in the open format that every client reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from registry import storage
from registry.models import Version
from registry.packages.manifest import manifest_of
from registry.packages.package import PackageFile
from registry.packages.paths import shown
from registry.packages.portable import portable
from registry.packages.problems import refuse
from registry.packages.repack import read_repacked, repack, unpack

_ZIP = re.compile(r"\.(zip|skill)$", re.IGNORECASE)


def portable_archive(version: Version) -> bytes:
    """A zip in the open format, with the folder that the format asks for; the same bytes each time."""
    files = read_repacked(storage.read(version.digest))
    return repack(portable(files, manifest_of(version.manifest)))


def archive_of(version: Version, *, in_open_format: bool) -> bytes:
    """The zip of a folder called as the skill."""
    if in_open_format:
        return portable_archive(version)
    files = read_repacked(storage.read(version.digest))
    return repack(PackageFile(f"{version.skill.slug}/{f.path}", f.data, f.executable) for f in files)


def write(archive: bytes, target: Path) -> Path:
    """Writes a zip where ``target`` is called one, else the archive's folder below it; replaces nothing."""
    if _ZIP.search(target.name):
        return _write_file(archive, target)
    (folder,) = {file.path.partition("/")[0] for file in read_repacked(archive)}
    if (target / folder).exists():
        raise refuse("TARGET_EXISTS", path=shown(str(target / folder)))
    _make(target)
    unpack(archive, target)
    return target / folder


def write_folder(files: Iterable[PackageFile], folder: Path) -> None:
    """Writes the files into a folder that is not there yet."""
    if folder.exists() or folder.is_symlink():
        raise refuse("TARGET_EXISTS", path=shown(str(folder)))
    _make(folder.parent)
    unpack(repack(files), folder)


def _write_file(archive: bytes, target: Path) -> Path:
    _make(target.parent)
    try:
        with target.open("xb") as file:
            file.write(archive)
    except FileExistsError:
        raise refuse("TARGET_EXISTS", path=shown(str(target))) from None
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(str(target)), reason=error.strerror or "") from None
    return target


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(str(folder)), reason=error.strerror or "") from None
