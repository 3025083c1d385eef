"""Decompression with a size limit. Data after the end of the stream is refused."""

import zlib

from registry.packages.errors import ARCHIVE_DAMAGED, ARCHIVE_GAPS, ARCHIVE_TRUNCATED, PACKAGE_TOO_LARGE
from registry.packages.problems import gettext_noop

_CHUNK = 1 << 20


def inflate(data: bytes, size: int, *, path: str) -> bytes:
    """Inflates exactly ``size`` bytes of a raw deflate stream.

    Raises ARCHIVE_DAMAGED at ``path`` if the data is invalid, does not inflate to ``size`` bytes or is
    followed by other data.
    """
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        result = stream.decompress(data, size + 1)
    except zlib.error as error:
        raise ARCHIVE_DAMAGED.refusal(reason=str(error)).at(path) from None
    if len(result) != size:
        raise ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("the size of an entry differs from the declared size")
        ).at(path)
    if not stream.eof or stream.unused_data or stream.unconsumed_tail:
        raise ARCHIVE_DAMAGED.refusal(
            reason=gettext_noop("the compressed data of an entry ends too early or too late")
        ).at(path)
    return result


def gunzip(data: bytes, limit: int) -> bytes:
    """The content of one gzip member.

    Raises Refusal if the content exceeds ``limit`` bytes, or if the data is damaged, incomplete or followed
    by other data.
    """
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    result = bytearray()
    pending = data
    try:
        while not stream.eof:
            chunk = stream.decompress(pending, min(_CHUNK, limit + 1 - len(result)))
            result += chunk
            if len(result) > limit:
                raise PACKAGE_TOO_LARGE.refusal(limit=limit)
            pending = stream.unconsumed_tail
            if not chunk and not pending and not stream.eof:
                raise ARCHIVE_TRUNCATED.refusal(reason=gettext_noop("the gzip stream is incomplete"))
    except zlib.error as error:
        raise ARCHIVE_DAMAGED.refusal(reason=str(error)) from None
    if stream.unused_data:
        raise ARCHIVE_GAPS.refusal(reason=gettext_noop("there is data after the gzip stream"))
    return bytes(result)
