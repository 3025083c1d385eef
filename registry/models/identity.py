"""Creates the opaque ids of rows for URLs and responses."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_uid() -> str:
    """A new id of 26 characters in ULID layout: 48 bits of milliseconds and 80 random bits. Ids sort by time;
    within a millisecond, their order is random.
    """
    return _encode((time.time_ns() // 1_000_000 << 80) | secrets.randbits(80))


def _encode(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
