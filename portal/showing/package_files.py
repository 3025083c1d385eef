"""The bytes of one file of a version, out of its archive."""

from __future__ import annotations

import zipfile

from registry import storage
from registry.models import File


def read_file(file: File) -> bytes:
    """The file's bytes; the archive is our own, re-packed one."""
    with storage.open_blob(file.version.digest) as blob, zipfile.ZipFile(blob) as archive:
        return archive.read(file.path)
