"""Values under keys of their own, apart from Django's: who has the database, or its key, has none of them.

The first of ``SKILLQUAY_SECRETS_KEYS`` seals, each of them opens: a new one is put before the others, then
``manage.py secrets --reseal`` writes all anew, and the old one is taken away.
"""

from __future__ import annotations

import json

from cryptography.fernet import InvalidToken, MultiFernet
from django.conf import settings

from registry.packages.problems import refuse
from registry.sealing import fernet


def seal(value: str, *, team: str, name: str) -> str:
    """The value bound to its place: moved to another row, it opens no more."""
    return _box().encrypt(json.dumps([team, name, value]).encode()).decode()


def unseal(sealed: str, *, team: str, name: str) -> str:
    """SECRET_SEALED where no key of the site's opens it, or it was sealed for another place."""
    try:
        *place, value = json.loads(_box().decrypt(sealed.encode()))
    except InvalidToken:
        raise refuse("SECRET_SEALED", name=name) from None
    if place != [team, name]:
        raise refuse("SECRET_SEALED", name=name)
    return str(value)


def _box() -> MultiFernet:
    return MultiFernet([fernet(f"secrets:{text}") for text in settings.SKILLQUAY_SECRETS_KEYS])
