"""Opaque, stable, time-ordered ids for URLs and responses."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_uid() -> str:
    """26 characters: 48 bits of milliseconds and 80 random bits, so newer ids sort later (ULID layout)."""
    number = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
