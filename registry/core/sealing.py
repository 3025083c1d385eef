"""Encrypts recoverable secrets with the site's key, so that a stolen database does not reveal them."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from registry.core.errors import SECRET_UNREADABLE


def seal(secret: str) -> str:
    return _site_fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The decrypted secret. Raises SECRET_UNREADABLE if it was sealed with another site key."""
    try:
        return _site_fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SECRET_UNREADABLE.refusal() from None


def fernet(text: str) -> Fernet:
    """A Fernet cipher whose key is the SHA-256 of the text."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()))


def _site_fernet() -> Fernet:
    return fernet(f"sealing:{settings.SECRET_KEY}")
