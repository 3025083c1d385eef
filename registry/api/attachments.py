"""Headers that make downloads of untrusted files safe."""

import unicodedata
from typing import TypeVar

from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

Response = TypeVar("Response", bound=HttpResponseBase)
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def make_attachment(response: Response, path: str, etag: str) -> Response:
    """Makes the response a download with an ETag, because a browser must not render untrusted bytes."""
    if not response.get("Content-Type", "").startswith("application/zip"):
        response["Content-Type"] = "application/octet-stream"
    response["ETag"] = etag
    return disable_rendering(response, path)


def disable_rendering(response: Response, path: str) -> Response:
    """Makes browsers save the response under the file's name, without rendering or sniffing it."""
    response["Content-Disposition"] = _disposition(path.rpartition("/")[2])
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _disposition(name: str) -> str:
    """The Content-Disposition for a file name, without folders and direction marks."""
    visible = "".join(
        "_" if character == "\\" or unicodedata.category(character) in _INVISIBLE_CATEGORIES else character
        for character in name
    )
    return content_disposition_header(True, visible) or "attachment"
