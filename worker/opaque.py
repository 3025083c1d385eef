"""Ids that scripts see of people and teams: stable within a team, telling nothing outside it."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from registry.models import Team


def opaque_id(kind: str, team: Team | None, subject: str) -> str:
    """An id that is stable within a team and says nothing outside it."""
    name = f"{kind}:{team.uid if team else ''}:{subject}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), name, hashlib.sha256).hexdigest()[:32]
