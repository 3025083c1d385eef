from __future__ import annotations

from registry.actors import Actor
from registry.models import AuditEntry, Team


def record(
    actor: Actor, action: str, target: str, *, team: Team | None = None, **detail: object
) -> AuditEntry:
    """Adds one entry, in the caller's transaction: what it speaks of happened exactly when it is there."""
    return AuditEntry.objects.create(
        user=actor.user,
        token_name=actor.token.name if actor.token else "shell" if actor.is_shell else "",
        team=team,
        action=action,
        target=target[:200],
        detail=detail,
    )
