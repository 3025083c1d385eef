"""Opaque ids of people and teams, which scripts see instead of names."""

import hashlib
import hmac

from django.conf import settings

from registry.models import Team


def opaque_id(kind: str, team: Team | None, subject: str) -> str:
    """An id of 32 hexadecimal digits that is stable within a team.

    The ids of one ``subject`` in different teams can't be linked to each other.
    """
    name = f"{kind}:{team.uid if team else ''}:{subject}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), name, hashlib.sha256).hexdigest()[:32]
