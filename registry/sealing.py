"""Secrets that must be had again, encrypted by the site's key: a database's thief reads none."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from registry.packages.problems import refuse


def seal(secret: str) -> str:
    return _box().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret again; SECRET_UNREADABLE where the site has another key by now."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise refuse("SECRET_UNREADABLE") from None


def fernet(text: str) -> Fernet:
    """What seals and opens by a key that is made of any text."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()))


def _box() -> Fernet:
    return fernet(f"sealing:{settings.SECRET_KEY}")
