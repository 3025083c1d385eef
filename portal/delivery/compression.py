"""Compresses pages and documents with an encoding that the client accepts."""

import re
from collections.abc import Callable

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

    def is_compressible(self, header: Callable[[str, str], str], size: int) -> bool:
        """Whether clients may get the body of this many bytes compressed. ``header`` returns a header of the
        response, or its second argument.
        """
        content_type = header("Content-Type", "")
        return (
            size >= self.MIN_BYTES
            and not header("Content-Range", "")
            and not header("Content-Disposition", "").startswith("attachment")
            and not content_type.startswith("text/event-stream")
            and self.content_type_re.match(content_type) is not None
        )

    def maybe_compress(self, request: HttpRequest, response: HttpResponseBase) -> None:
        if not isinstance(response, HttpResponse):
            return
        if not self.is_compressible(response.get, len(response.content)):
            return
        patch_vary_headers(response, ("Accept-Encoding",))
        etag = response.get("ETag", "")
        super().maybe_compress(request, response)
        if etag.startswith('"') and "Content-Encoding" in response:
            response["ETag"] = coded_etag(etag, response["Content-Encoding"])
