"""Compresses pages and documents with an encoding that the client accepts."""

import re

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django_http_compression.middleware import HttpCompressionMiddleware

from registry.api.etag import coded_etag


class CompressionMiddleware(HttpCompressionMiddleware):
    """Compresses texts of at least ``MIN_BYTES``, except downloads, streams and server-sent events.

    The ETag of a compressed response includes the encoding. A header of random length hides the exact size,
    against the BREACH attack.
    """

    MIN_BYTES = 500
    content_type_re = re.compile(
        rf"{HttpCompressionMiddleware.content_type_re.pattern} | ^application/vnd\.oai\.openapi",
        re.VERBOSE | re.IGNORECASE,
    )

    def maybe_compress(self, request: HttpRequest, response: HttpResponseBase) -> None:
        content_type = response.get("Content-Type", "")
        if (
            not isinstance(response, HttpResponse)
            or len(response.content) < self.MIN_BYTES
            or "Content-Range" in response
            or response.get("Content-Disposition", "").startswith("attachment")
            or content_type.startswith("text/event-stream")
            or not self.content_type_re.match(content_type)
        ):
            return
        patch_vary_headers(response, ("Accept-Encoding",))
        etag = response.get("ETag", "")
        super().maybe_compress(request, response)
        if etag.startswith('"') and "Content-Encoding" in response:
            response["ETag"] = coded_etag(etag, response["Content-Encoding"])
