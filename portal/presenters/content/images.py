"""Reads the pixel size of images, because a small file can occupy gigabytes in a browser."""

import struct
from typing import IO

MAX_PIXELS = 40_000_000  # a browser needs four bytes per pixel
_NO_FRAME = {0xC4, 0xC8, 0xCC}  # JPEG markers between 0xC0 and 0xCF that start a table instead of a frame
_MAX_BLOCKS = 10_000  # number of blocks read before the first frame


def is_drawable(file: IO[bytes]) -> bool:
    """Whether the image has at most ``MAX_PIXELS``. True if its size is unreadable, because browsers don't
    draw it.

    Moves the position of ``file``.
    """
    file.seek(0)
    first = file.read(32)
    try:
        width, height = _size(first, file)
    except (struct.error, IndexError):
        return True
    return width * height <= MAX_PIXELS


def _size(first: bytes, file: IO[bytes]) -> tuple[int, int]:
    if first.startswith(b"\x89PNG"):
        return _unpack_pair(">II", first, 16)
    if first.startswith(b"GIF8"):
        return _gif(first, file)
    if first.startswith(b"RIFF"):
        return _webp(first)
    return _jpeg(file)


def _unpack_pair(form: str, data: bytes, at: int) -> tuple[int, int]:
    width, height = struct.unpack_from(form, data, at)
    return width, height


def _webp(first: bytes) -> tuple[int, int]:
    if first[12:16] == b"VP8X":
        return int.from_bytes(first[24:27], "little") + 1, int.from_bytes(first[27:30], "little") + 1
    if first[12:16] == b"VP8L":
        bits = int.from_bytes(first[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = _unpack_pair("<HH", first, 26)
    return width & 0x3FFF, height & 0x3FFF


def _gif(first: bytes, file: IO[bytes]) -> tuple[int, int]:
    """Width and height of the image, or of the first frame if larger: browsers draw the whole frame."""
    width, height = _unpack_pair("<HH", first, 6)
    file.seek(13 + (3 << (first[10] & 7) + 1 if first[10] & 0x80 else 0))
    for _ in range(_MAX_BLOCKS):
        kind = file.read(1)
        if kind == b"\x2c":
            frame = _unpack_pair("<4xHH", file.read(8), 0)
            return max(width, frame[0]), max(height, frame[1])
        if kind != b"\x21":
            break
        file.read(1)
        while length := file.read(1)[0]:
            file.seek(length, 1)
    return width, height


def _jpeg(file: IO[bytes]) -> tuple[int, int]:
    file.seek(2)
    for _ in range(_MAX_BLOCKS):
        marker, length = struct.unpack(">HH", file.read(4))
        if 0xFFC0 <= marker <= 0xFFCF and marker & 0xFF not in _NO_FRAME:
            height, width = _unpack_pair(">xHH", file.read(5), 0)
            return width, height
        file.seek(length - 2, 1)
    return 0, 0
