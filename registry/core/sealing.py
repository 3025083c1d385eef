"""Encrypts secrets with the site's key, so that a stolen database does not reveal them."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from registry.core.errors import SECRET_UNREADABLE


def seal(secret: str) -> str:
    return _site_fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The decrypted secret. Raises SECRET_UNREADABLE if neither the site's key nor a fallback sealed it."""
    try:
        return _site_fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SECRET_UNREADABLE.refusal() from None


def reseal(sealed: str) -> str:
    """The same secret, sealed with the site's key. A value that no key decrypts stays as it is."""
    try:
        return _site_fernet().rotate(sealed.encode()).decode()
    except InvalidToken:
        return sealed


def fernet(text: str) -> Fernet:
    """A Fernet cipher whose key is the SHA-256 of the text."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()))


def _site_fernet() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([fernet(f"sealing:{key}") for key in keys])
