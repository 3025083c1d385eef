"""Reads one file of a version."""

import zipfile
import zlib

from registry.models import Version
from registry.storage import blobs
from registry.storage.errors import BLOB_MISSING

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)  # what zipfile raises


def read_file(version: Version, path: str) -> bytes:
    """The content of a file of the version. Raises KeyError for an unknown path, the errors of
    ``blobs.open_blob``, and BLOB_MISSING for a damaged archive. Does not check the archive again, because
    publishing did.
    """
    try:
        with blobs.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
            return archive.read(path)
    except _DAMAGED:
        raise BLOB_MISSING.refusal(digest=version.digest) from None
