"""The format of token secrets: a prefix, 43 random characters, and a CRC-32 checksum of both in base 62.

With the checksum, secret scanners recognize a token without a request, and a mistyped token causes no
database query. The checksum protects nothing: anyone can compute it.
"""

import hashlib
import re
import secrets
import string
import zlib

PREFIX = "sq_"
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM = 43  # characters; 256 bits
_CHECKSUM = 6
_SECRET = re.compile(f"{PREFIX}[0-9A-Za-z]{{{_RANDOM + _CHECKSUM}}}")


def new_secret() -> str:
    text = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
    return text + checksum(text)


def is_well_formed(secret: str) -> bool:
    """Whether the text has the format and the checksum of a token secret."""
    if not _SECRET.fullmatch(secret):
        return False
    return secret[-_CHECKSUM:] == checksum(secret[:-_CHECKSUM])


def checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(_CHECKSUM):
        number, rest = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[rest] + digits
    return digits


def digest(secret: str) -> str:
    """The SHA-256 digest under which a secret is stored. No salt is needed, because a secret has 256 random
    bits.
    """
    return hashlib.sha256(secret.encode()).hexdigest()
