"""Downloads: responses that consist of a stored file, and headers that make untrusted files safe."""

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, TypeVar

from django.conf import settings
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from rest_framework.request import Request

from registry.storage import blobs
from registry.storage.errors import BLOB_MISSING

ZIP_TYPES = ("application/zip", "application/octet-stream")  # many generated clients know only the second
ZIP_VARY = ("Accept",)  # headers by which ``make_zip_attachment`` varies
Response = TypeVar("Response", bound=HttpResponseBase)
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class StoredFile:
    """The blob to send as a response."""

    digest: str
    size: int  # bytes


class OpenedFile:
    """The blob of a ``StoredFile`` as a file; opened at its first use."""

    def __init__(self, stored: StoredFile) -> None:
        self.stored = stored

    @cached_property
    def file(self) -> BinaryIO:
        return blobs.open_blob(self.stored.digest)

    def read(self, size: int = -1) -> bytes:
        return self.file.read(size)

    def close(self) -> None:
        if "file" in self.__dict__:
            self.file.close()


def stored_response(stored: StoredFile) -> FileResponse:
    """A response with the blob as its content. Raises the refusals of ``blobs.open_blob``."""
    opened = OpenedFile(stored)
    if not (settings.STORAGE_URL and settings.SKILLQUAY_S3_REDIRECTS):
        assert opened.file  # opened now, because the view can still refuse
    elif not blobs.exists(stored.digest):
        raise BLOB_MISSING.refusal(digest=stored.digest)
    response = FileResponse(opened)
    response["Content-Length"] = str(stored.size)
    return response


def make_attachment(response: Response, path: str, etag: str) -> Response:
    """Makes the response a download of type ``application/octet-stream``, which browsers don't render. Sets
    the ETag and returns the response.
    """
    response["Content-Type"] = "application/octet-stream"
    response["ETag"] = etag
    return disable_rendering(response, path)


def make_zip_attachment(response: Response, request: Request, name: str, etag: str) -> Response:
    """Like ``make_attachment``, but with the type ``application/zip``. Keeps ``application/octet-stream`` if
    the Accept header has exactly this value.
    """
    response = make_attachment(response, name, etag)
    response["Content-Type"] = ZIP_TYPES[request.headers.get("Accept") == ZIP_TYPES[1]]
    patch_vary_headers(response, ZIP_VARY)
    return response


def disable_rendering(response: Response, path: str) -> Response:
    """Sets the headers that make browsers save the response under the last part of ``path``, without
    rendering it or sniffing its type. Returns the response.
    """
    response["Content-Disposition"] = _disposition(path.rpartition("/")[2])
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _disposition(name: str) -> str:
    """The Content-Disposition header with this file name. Backslashes and invisible characters, such as
    direction marks, become ``_``.
    """
    visible = "".join(
        "_" if character == "\\" or unicodedata.category(character) in _INVISIBLE_CATEGORIES else character
        for character in name
    )
    return content_disposition_header(True, visible) or "attachment"
