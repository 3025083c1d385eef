"""The audit trail."""

from registry.identity.actors import Actor
from registry.models import AuditEntry, Team


def record(
    actor: Actor, action: str, target: str, *, team: Team | None = None, **detail: object
) -> AuditEntry:
    """Adds one entry in the caller's transaction, so that entry and change commit together."""
    return AuditEntry.objects.create(
        user=actor.user,
        token_name=actor.token.name if actor.token else "shell" if actor.is_shell else "",
        team=team,
        action=action,
        target=target[:200],
        detail=detail,
    )
