"""A part of a file, for a client that goes on where it was cut off (RFC 9110, one range)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

Headers = list[tuple[bytes, bytes]]
_ONE = re.compile(rb"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Part:
    """Bytes ``start`` to before ``stop``; an empty one where nothing that was asked for is there."""

    start: int
    stop: int
    size: int

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def status(self) -> int:
        return 206 if self.length else 416

    def headers(self, answered: Headers) -> Headers:
        told = f"{self.start}-{self.stop - 1}" if self.length else "*"
        kept = [(name, value) for name, value in answered if name.lower() != b"content-length"]
        return [
            *kept,
            (b"content-length", str(self.length).encode()),
            (b"content-range", f"bytes {told}/{self.size}".encode()),
        ]


def asked_part(asked: Iterable[tuple[bytes, bytes]], answered: Headers) -> Part | None:
    """The part that a request asks for of an answer; None where the whole is to be sent.

    Several ranges, a range of something else by now (``If-Range``) or of compressed bytes mean the whole.
    """
    request, answer = dict(asked), {name.lower(): value for name, value in answered}
    length = answer.get(b"content-length", b"")
    found = _ONE.fullmatch(request.get(b"range", b"").strip())
    if not found or not length.isdigit() or b"content-encoding" in answer:
        return None
    if request.get(b"if-range", answer.get(b"etag")) != answer.get(b"etag"):
        return None
    return _part(found[1], found[2], int(length))


def _part(first: bytes, last: bytes, size: int) -> Part | None:
    if not first:  # the last so many bytes
        return Part(max(0, size - int(last)), size, size) if last else None
    start = int(first)
    stop = min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    return Part(start, stop, size) if start < size else Part(0, 0, size)
