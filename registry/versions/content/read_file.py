"""Reads one file of a version."""

import zipfile

from registry.models import Version
from registry.storage import blobs


def read_file(version: Version, path: str) -> bytes:
    """The content of a file of the version. Raises KeyError for an unknown path, and the errors of
    ``blobs.open_blob``. Does not check the archive again, because publishing did.
    """
    with blobs.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        return archive.read(path)
