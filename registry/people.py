"""A person's own: everything that is kept of them in one document, and its erasure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from registry import audit, erasing
from registry.actors import Actor
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
from registry.moments import moment
from registry.packages.problems import refuse


def find_person(username: str, by: Actor) -> User:
    """The person of that name, for themselves and for administrators in person; never for a token."""
    if by.token:
        raise refuse("FORBIDDEN", action="administer people")
    if by.user and by.user.username == username:
        return by.user
    user = User.objects.filter(username=username).first() if by.is_administrator else None
    if user is None:
        raise refuse("NOT_FOUND", what="user", name=username[:150])
    return user


def export_person(user: User, by: Actor) -> dict[str, Any]:
    """Everything that the site keeps about the person, as one JSON document; secrets are kept by nobody."""
    _require_own(user, by)
    versions = Version.objects.filter(published_by=user).select_related("skill__team").order_by("pk")
    uses = Use.objects.filter(caller=_caller(user)).select_related("skill__team").order_by("pk")
    return {
        "account": _columns(
            User.objects.filter(pk=user.pk),
            *("uid", "username", "email", "first_name", "last_name", "language", "date_joined", "last_login"),
        )[0],
        "memberships": _columns(user.memberships.all(), "team__slug", "role", "created_at"),
        "tokens": _columns(
            user.tokens.all(), "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at"
        ),
        "sessions": len(_sessions(user)),
        "versions": [
            {"version": str(row), "digest": row.digest, "at": moment(row.created_at)} for row in versions
        ],
        "uses": [
            {"skill": str(row.skill), "count": row.count, "last": moment(row.last_counted_at)} for row in uses
        ],
        "events": _columns(
            Event.objects.filter(sender=user), "uid", "team__slug", "type", "payload", "received_at"
        ),
        "feedback": _columns(
            Feedback.objects.filter(by=user), "skill__slug", "version_number", "outcome", "note", "created_at"
        ),
        "proposed_tests": _columns(
            ProposedTriggerTest.objects.filter(by=user), "skill__slug", "utterance", "state", "created_at"
        ),
        "reports": _columns(
            Report.objects.filter(by=user), "version__skill__slug", "version__number", "reason", "text", "at"
        ),
        "canonical_uses": _columns(
            CanonicalUse.objects.filter(caller=_caller(user)), "slug", "count", "last_kind", "last_used_at"
        ),
        "audit": _columns(AuditEntry.objects.filter(user=user), "at", "action", "target", "detail"),
        **erasing.export_person(user),
    }


@transaction.atomic
def erase_person(user: User, by: Actor) -> User:
    """Takes away all that tells who they were; versions stay as an opaque id's, runs too but empty.

    Refuses while a site or a team of others would be left without anybody to answer for it.
    """
    _require_own(user, by)
    # No key: else who holds a run and writes down whose it was would wait for us, who want that run.
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    _check_replaceable(user)
    former = user.username
    erasing.discard_on_commit(erasing.erase_person(user))
    for rows in _traces(user):
        rows.delete()
    Report.objects.filter(by=user).update(text="")  # that it was reported stays to be decided
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


def _require_own(user: User, by: Actor) -> None:
    if by.token or not (by.is_administrator or by.user == user):
        raise refuse("FORBIDDEN", action="administer people")


def _check_replaceable(user: User) -> None:
    others = User.objects.exclude(pk=user.pk).filter(is_active=True)
    if user.is_superuser and not others.filter(is_superuser=True).exists():
        raise refuse("LAST_ADMINISTRATOR", user=user.username)
    for own in Membership.objects.filter(user=user, role=Role.OWNER).select_related("team"):
        members = Membership.objects.filter(team=own.team).exclude(user=user)
        if members.exists() and not members.filter(role=Role.OWNER).exists():
            raise refuse("LAST_OWNER", user=user.username, team=own.team.slug)


def _traces(user: User) -> list[QuerySet[Any]]:
    """The rows that are the person's alone."""
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


def _columns(rows: QuerySet[Any], *columns: str) -> list[dict[str, Any]]:
    return [
        {name: moment(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows.order_by("pk").values(*columns)
    ]
