"""Byte ranges of files, for clients that resume a download (RFC 9110, one range per request)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Headers = list[tuple[bytes, bytes]]
_SINGLE_RANGE = re.compile(rb"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class ByteRange:
    """Bytes from ``start`` up to ``stop``, exclusive; empty if the file has none of the requested bytes."""

    start: int
    stop: int
    size: int

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def status(self) -> int:
        return 206 if self.length else 416

    def headers(self, response_headers: Headers) -> Headers:
        span = f"{self.start}-{self.stop - 1}" if self.length else "*"
        others = [(name, value) for name, value in response_headers if name.lower() != b"content-length"]
        return [
            *others,
            (b"content-length", str(self.length).encode()),
            (b"content-range", f"bytes {span}/{self.size}".encode()),
        ]


def requested_range(
    request_headers: Iterable[tuple[bytes, bytes]], response_headers: Headers
) -> ByteRange | None:
    """The range of the response that the request selects; None if the whole response must be sent.

    Returns None for several ranges, after a failed ``If-Range`` check and for compressed responses.
    """
    request, answer = dict(request_headers), {name.lower(): value for name, value in response_headers}
    length = answer.get(b"content-length", b"")
    match = _SINGLE_RANGE.fullmatch(request.get(b"range", b"").strip())
    if not match or not length.isdigit() or b"content-encoding" in answer:
        return None
    if request.get(b"if-range", answer.get(b"etag")) != answer.get(b"etag"):
        return None
    return _parse_range(match[1], match[2], int(length))


def _parse_range(first: bytes, last: bytes, size: int) -> ByteRange | None:
    if not first:  # a number of bytes from the end
        return ByteRange(max(0, size - int(last)), size, size) if last else None
    start = int(first)
    stop = min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    return ByteRange(start, stop, size) if start < size else ByteRange(0, 0, size)
