"""Decompression that stops: never more bytes than were promised, never a byte left over."""

from __future__ import annotations

import zlib

from registry.packages.problems import gettext_noop, refuse

_CHUNK = 1 << 20


def inflate(data: bytes, size: int, *, path: str) -> bytes:
    """The deflate stream's ``size`` bytes; refused when it holds more, fewer or anything behind its end."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        result = stream.decompress(data, size + 1)
    except zlib.error as error:
        raise refuse("ARCHIVE_DAMAGED", path=path, reason=str(error)) from None
    if len(result) != size:
        raise refuse("ARCHIVE_DAMAGED", path=path, reason=gettext_noop("its size is not the one it states"))
    if not stream.eof or stream.unused_data or stream.unconsumed_tail:
        raise refuse(
            "ARCHIVE_DAMAGED",
            path=path,
            reason=gettext_noop("its compressed data does not end where it should"),
        )
    return result


def gunzip(data: bytes, limit: int) -> bytes:
    """The one gzip member's bytes, at most ``limit`` of them; its own checksum is verified by zlib."""
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    result = bytearray()
    pending = data
    try:
        while not stream.eof:
            chunk = stream.decompress(pending, min(_CHUNK, limit + 1 - len(result)))
            result += chunk
            if len(result) > limit:
                raise refuse("PACKAGE_TOO_LARGE", limit=limit)
            pending = stream.unconsumed_tail
            if not chunk and not pending and not stream.eof:
                raise refuse("ARCHIVE_TRUNCATED", reason=gettext_noop("the gzip stream has no end"))
    except zlib.error as error:
        raise refuse("ARCHIVE_DAMAGED", reason=str(error)) from None
    if stream.unused_data:
        raise refuse("ARCHIVE_GAPS", reason=gettext_noop("something follows the gzip stream"))
    return bytes(result)
