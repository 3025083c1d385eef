"""Exports packages: a version as a zip in the open Agent Skills format, or files into a folder."""

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
    """The version as a zip in the open Agent Skills format, with one top-level folder. The bytes are always
    the same for the same version. Raises the errors of ``blobs.read``.
    """
    files = read_repacked(blobs.read(version.digest))
    return repack(make_portable(files, manifest_of(version.manifest)))


def write_folder(files: Iterable[PackageFile], folder: Path) -> None:
    """Writes the files into a new folder, and creates its parent folders. Raises TARGET_EXISTS if the path
    exists, and FILE_UNREADABLE if it can't be written.
    """
    if folder.exists() or folder.is_symlink():
        raise TARGET_EXISTS.refusal().at(printable(str(folder)))
    _create_folder(folder.parent)
    unpack(repack(files), folder)


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(str(folder))) from None
