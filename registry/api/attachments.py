from __future__ import annotations

from typing import TypeVar

from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

Response = TypeVar("Response", bound=HttpResponseBase)


def attachment(response: Response, path: str, etag: str) -> Response:
    """Makes bytes of strangers harmless in a browser: saved, never rendered, never guessed at, no origin."""
    name = path.rpartition("/")[2]
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    if not response.get("Content-Type", "").startswith("application/zip"):
        response["Content-Type"] = "application/octet-stream"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["ETag"] = etag
    return response
