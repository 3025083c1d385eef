"""Detects processes whose SKILLQUAY_SECRET_KEY is not the site's. They can't decrypt the site's secrets."""

import hashlib
import hmac

from django.conf import settings

from registry.models import SiteKey

MISMATCH = (
    "Can't start: SKILLQUAY_SECRET_KEY is not the key of this site. Set the key of the other hosts, or run "
    "`manage.py accept_secret_key` if you rotated the key."
)
_ROW = 1


def is_accepted() -> bool:
    """Whether this process has the site's key. A site without a recorded key accepts every key."""
    return SiteKey.objects.filter(pk=_ROW).exclude(fingerprint=fingerprint()).count() == 0


def record() -> None:
    """Records this process's key as the site's, unless a key is already recorded."""
    SiteKey.objects.get_or_create(pk=_ROW, defaults={"fingerprint": fingerprint()})


def replace() -> bool:
    """Records this process's key as the site's; returns whether it replaced a different key."""
    changed = not is_accepted()
    SiteKey.objects.update_or_create(pk=_ROW, defaults={"fingerprint": fingerprint()})
    return changed


def fingerprint(key: str = "") -> str:
    """A hash of ``key``, by default of this process's key. The key can't be computed from it."""
    message = b"skillquay: the site's key"
    return hmac.new((key or settings.SECRET_KEY).encode(), message, hashlib.sha256).hexdigest()
