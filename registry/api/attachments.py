from __future__ import annotations

import unicodedata
from typing import TypeVar

from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

Response = TypeVar("Response", bound=HttpResponseBase)
_UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def attachment(response: Response, path: str, etag: str) -> Response:
    """Makes bytes of strangers harmless in a browser, and no picture or page of any kind."""
    if not response.get("Content-Type", "").startswith("application/zip"):
        response["Content-Type"] = "application/octet-stream"
    response["ETag"] = etag
    return harmless(response, path)


def harmless(response: Response, path: str) -> Response:
    """Saved under the file's name, never rendered, never guessed at, no origin; its type stays."""
    response["Content-Disposition"] = _saved_as(path.rpartition("/")[2])
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _saved_as(name: str) -> str:
    """The header under which a browser saves a file: no sign that turns its ending round, no folder."""
    seen = "".join("_" if one == "\\" or unicodedata.category(one) in _UNSEEN else one for one in name)
    return content_disposition_header(True, seen) or "attachment"
