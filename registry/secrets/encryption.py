"""Encrypts team secrets with separate keys, so that the database and Django's SECRET_KEY do not reveal them.

The first of ``SKILLQUAY_SECRETS_KEYS`` encrypts; all of them decrypt. To rotate keys, put a new key first,
run ``manage.py reseal_secrets``, then remove the old key.
"""

import json

from cryptography.fernet import InvalidToken, MultiFernet
from django.conf import settings

from registry.core.sealing import fernet
from registry.secrets.errors import SECRET_SEALED


def seal(value: str, *, team: str, name: str) -> str:
    """The encrypted value. It can be decrypted only with the same ``team`` (the team's uid) and ``name``."""
    return _fernet().encrypt(json.dumps([team, name, value]).encode()).decode()


def unseal(sealed: str, *, team: str, name: str) -> str:
    """The decrypted value. Raises SECRET_SEALED if no key decrypts it, or if it was sealed for another team
    or name.
    """
    try:
        *place, value = json.loads(_fernet().decrypt(sealed.encode()))
    except InvalidToken:
        raise SECRET_SEALED.refusal(name=name) from None
    if place != [team, name]:
        raise SECRET_SEALED.refusal(name=name)
    return str(value)


def _fernet() -> MultiFernet:
    return MultiFernet([fernet(f"secrets:{text}") for text in settings.SKILLQUAY_SECRETS_KEYS])
