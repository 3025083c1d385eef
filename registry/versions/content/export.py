"""Exports a version: its files as published, or in the open Agent Skills format."""

from collections.abc import Iterable
from pathlib import Path

from registry.models import Version
from registry.packages.archive.paths import printable
from registry.packages.archive.repack import read_repacked, repack, unpack
from registry.packages.authoring.portable import make_portable
from registry.packages.errors import FILE_UNREADABLE
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import PackageFile
from registry.storage import blobs
from registry.versions.errors import TARGET_EXISTS


def portable_archive(version: Version) -> bytes:
    """A deterministic zip in the open format, with the top-level folder that the format requires."""
    files = read_repacked(blobs.read(version.digest))
    return repack(make_portable(files, manifest_of(version.manifest)))


def write_folder(files: Iterable[PackageFile], folder: Path) -> None:
    """Writes the files into a new folder. Raises TARGET_EXISTS if it already exists."""
    if folder.exists() or folder.is_symlink():
        raise TARGET_EXISTS.refusal().at(printable(str(folder)))
    _create_folder(folder.parent)
    unpack(repack(files), folder)


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(str(folder))) from None
