"""Export and erasure of the data about a person."""

from datetime import datetime
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.core.time import rfc3339
from registry.erasure import hooks
from registry.erasure.errors import LAST_ADMINISTRATOR
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, LAST_OWNER
from registry.models import (
    AuditEntry,
    CanonicalUse,
    Event,
    Feedback,
    IdempotencyKey,
    Membership,
    ProposedTriggerTest,
    Report,
    Role,
    Token,
    Use,
    User,
    Version,
)


def find_person(username: str, by: Actor) -> User:
    """The user, for that user or an administrator. Raises FORBIDDEN for tokens, otherwise NOT_FOUND."""
    if by.token:
        raise FORBIDDEN.refusal(action="administer people")
    if by.user and by.user.username == username:
        return by.user
    user = User.objects.filter(username=username).first() if by.is_administrator else None
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=username[:150])
    return user


def export_person(user: User, by: Actor) -> dict[str, Any]:
    """All data stored about the person as one JSON document, without token secrets."""
    _require_self_or_administrator(user, by)
    versions = Version.objects.filter(published_by=user).select_related("skill__team").order_by("pk")
    uses = Use.objects.filter(caller=_caller(user)).select_related("skill__team").order_by("pk")
    return {
        "account": _select(
            User.objects.filter(pk=user.pk),
            *("uid", "username", "email", "first_name", "last_name", "language", "date_joined", "last_login"),
        )[0],
        "memberships": _select(user.memberships.all(), "team__slug", "role", "created_at"),
        "tokens": _select(
            user.tokens.all(), "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at"
        ),
        "sessions": len(_sessions(user)),
        "versions": [
            {"version": str(row), "digest": row.digest, "at": rfc3339(row.created_at)} for row in versions
        ],
        "uses": [
            {"skill": str(row.skill), "count": row.count, "last": rfc3339(row.last_counted_at)}
            for row in uses
        ],
        "events": _select(
            Event.objects.filter(sender=user), "uid", "team__slug", "type", "payload", "received_at"
        ),
        "feedback": _select(
            Feedback.objects.filter(by=user), "skill__slug", "version_number", "outcome", "note", "created_at"
        ),
        "proposed_tests": _select(
            ProposedTriggerTest.objects.filter(by=user), "skill__slug", "utterance", "state", "created_at"
        ),
        "reports": _select(
            Report.objects.filter(by=user), "version__skill__slug", "version__number", "reason", "text", "at"
        ),
        "canonical_uses": _select(
            CanonicalUse.objects.filter(caller=_caller(user)), "slug", "count", "last_kind", "last_used_at"
        ),
        "audit": _select(AuditEntry.objects.filter(user=user), "at", "action", "target", "detail"),
        **hooks.export_person(user),
    }


@transaction.atomic
def erase_person(user: User, by: Actor) -> User:
    """Deletes all personal data. Versions and runs stay under an opaque name; runs lose their content. Raises
    LAST_ADMINISTRATOR if the site would have no administrator, and LAST_OWNER if a team with other members
    would have no owner.
    """
    _require_self_or_administrator(user, by)
    # FOR NO KEY UPDATE: runs reference this row, so a stronger lock could deadlock with writers of runs.
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    _require_not_last(user)
    former = user.username
    hooks.discard_on_commit(hooks.erase_person(user))
    for rows in _personal_rows(user):
        rows.delete()
    Report.objects.filter(by=user).update(text="")  # the report stays, because it still needs a decision
    for session in _sessions(user):
        session.delete()
    user.username, user.erased_at = f"erased-{user.uid}", timezone.now()
    user.email = user.first_name = user.last_name = user.language = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()
    named = AuditEntry.objects.filter(target=former, action__startswith="member.")
    named.update(target=user.username)
    audit.record(by, "person.erase", user.username)
    return user


def _require_self_or_administrator(user: User, by: Actor) -> None:
    if by.token or not (by.is_administrator or by.user == user):
        raise FORBIDDEN.refusal(action="administer people")


def _require_not_last(user: User) -> None:
    others = User.objects.exclude(pk=user.pk).filter(is_active=True)
    if user.is_superuser and not others.filter(is_superuser=True).exists():
        raise LAST_ADMINISTRATOR.refusal(user=user.username)
    for own in Membership.objects.filter(user=user, role=Role.OWNER).select_related("team"):
        members = Membership.objects.filter(team=own.team).exclude(user=user)
        if members.exists() and not members.filter(role=Role.OWNER).exists():
            raise LAST_OWNER.refusal(user=user.username, team=own.team.slug)


def _personal_rows(user: User) -> list[QuerySet[Any]]:
    """The rows to delete: those that belong only to the person."""
    keys = Q(caller=_caller(user)) | Q(caller__startswith=f"{_caller(user)}:")
    attempts: list[type[Model]] = [AccessAttempt, AccessFailureLog, AccessLog]
    return [
        Membership.objects.filter(user=user),
        Token.objects.filter(owner=user),
        Use.objects.filter(caller=_caller(user)),
        CanonicalUse.objects.filter(caller=_caller(user)),
        IdempotencyKey.objects.filter(keys),
        Event.objects.filter(sender=user),
        Feedback.objects.filter(by=user),
        ProposedTriggerTest.objects.filter(by=user),
        *(log._default_manager.filter(username=user.username) for log in attempts),
    ]


def _sessions(user: User) -> list[Session]:
    rows = Session.objects.filter(expire_date__gt=timezone.now())
    return [row for row in rows.iterator() if row.get_decoded().get("_auth_user_id") == str(user.pk)]


def _caller(user: User) -> str:
    return Actor(user=user).caller


def _select(rows: QuerySet[Any], *columns: str) -> list[dict[str, Any]]:
    return [
        {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows.order_by("pk").values(*columns)
    ]
