"""Headers that make downloads of untrusted files safe."""

import unicodedata
from typing import TypeVar

from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from rest_framework.request import Request

ZIP_TYPES = ("application/zip", "application/octet-stream")  # many generated clients know only the second
Response = TypeVar("Response", bound=HttpResponseBase)
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def make_attachment(response: Response, path: str, etag: str) -> Response:
    """Turns the response into a download of type ``application/octet-stream``, which browsers don't render,
    sets its ETag, and returns it.
    """
    response["Content-Type"] = "application/octet-stream"
    response["ETag"] = etag
    return disable_rendering(response, path)


def make_zip_attachment(response: Response, request: Request, name: str, etag: str) -> Response:
    """Like ``make_attachment``, but the type is ``application/zip``, unless ``Accept`` lists only the general
    type.
    """
    response = make_attachment(response, name, etag)
    response["Content-Type"] = ZIP_TYPES[request.headers.get("Accept") == ZIP_TYPES[1]]
    patch_vary_headers(response, ("Accept",))
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
