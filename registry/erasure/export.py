"""Exports the data about a person, row by row, because a person's runs can contain gigabytes."""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Q, QuerySet

from registry.accounts.sessions import sessions_of
from registry.core.time import rfc3339
from registry.erasure import hooks
from registry.erasure.people import caller_of, require_self_or_administrator
from registry.identity.actors import Actor
from registry.models import (
    AuditEntry,
    CanonicalUse,
    Event,
    Feedback,
    ProposedTriggerTest,
    Report,
    Use,
    User,
    Version,
)
from registry.single_sign_on.accounts import links_of

_ROWS_AT_ONCE = 10
_MAX_PARSED = 64 * 1024  # characters; longer JSON is copied as stored, with its escapes


@dataclass(frozen=True)
class ExportFile:
    """The exported document in an unnamed temporary file, which the response closes, and its ETag."""

    file: IO[bytes]
    etag: str


def export_person(user: User, by: Actor) -> dict[str, Any]:
    """The person's data as one JSON document, without token secrets. Raises FORBIDDEN if the actor uses a
    token, or is neither this user nor an administrator.
    """
    return {
        name: [_parsed(row) for row in value] if isinstance(value, Iterator) else value
        for name, value in _personal_data(user, by).items()
    }


def write_export(user: User, by: Actor) -> ExportFile:
    """The document of ``export_person`` as a JSON file. Reads and writes one row at a time."""
    data, digest = _personal_data(user, by), hashlib.sha256()
    file = tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR))  # noqa: SIM115  (closed with the response)
    for chunk in _json_chunks(data):
        digest.update(chunk)
        file.write(chunk)
    file.seek(0)
    return ExportFile(file, f'"{digest.hexdigest()[:32]}"')


def _json_chunks(data: dict[str, Any]) -> Iterator[bytes]:
    mark = b"{\n"
    for name, value in data.items():
        yield mark + _json(name) + b": "
        if isinstance(value, Iterator):
            yield from _row_chunks(value)
        else:
            yield _json(value)
        mark = b",\n"
    yield b"\n}\n"


def _parsed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.value if isinstance(value, hooks.StoredJson) else value for name, value in row.items()
    }


def _row_chunks(rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    mark = b"["
    for row in map(_row, rows):  # keeps no row in memory while reading the next
        yield mark + b"\n"
        yield row
        mark = b","
    yield b"[]" if mark == b"[" else b"\n]"


def _row(row: Mapping[str, Any]) -> bytes:
    return b"{" + b", ".join(_json(name) + b": " + _json(value) for name, value in row.items()) + b"}"


def _json(value: object) -> bytes:
    if isinstance(value, hooks.StoredJson):
        if len(value.text) > _MAX_PARSED:
            return value.text.encode()
        value = value.value
    return json.dumps(value, ensure_ascii=False).encode()


def _personal_data(user: User, by: Actor) -> dict[str, Any]:
    """The person's data by section name. Sections with many rows are iterators."""
    require_self_or_administrator(user, by)
    versions = Version.objects.filter(published_by=user).select_related("skill__team").order_by("pk")
    light = versions.only("number", "digest", "created_at", "skill__slug", "skill__team__slug")
    uses = Use.objects.filter(caller=caller_of(user)).select_related("skill__team").order_by("pk")
    return {
        "account": next(
            _select(
                User.objects.filter(pk=user.pk),
                *("uid", "username", "email", "first_name", "last_name", "language"),
                *("date_joined", "last_login"),
            )
        ),
        "memberships": _select(user.memberships.all(), "team__slug", "role", "created_at"),
        "pins": _select(user.pins.all(), "skill__team__slug", "skill__slug"),
        "tokens": _select(
            user.tokens.all(), "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at"
        ),
        "identities": _select(links_of(user), "provider", "uid", "date_joined", "last_login"),
        "sessions": sessions_of(user).count(),
        "second_factors": _select(
            Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"
        ),
        "versions": (
            {"version": str(row), "digest": row.digest, "at": rfc3339(row.created_at)}
            for row in light.iterator(chunk_size=_ROWS_AT_ONCE)
        ),
        "uses": (
            {"skill": str(row.skill), "count": row.count, "last": rfc3339(row.last_counted_at)}
            for row in uses.iterator(chunk_size=_ROWS_AT_ONCE)
        ),
        **_written(user),
        **hooks.export_person(user),
    }


def _written(user: User) -> dict[str, Iterator[dict[str, Any]]]:
    return {
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
            CanonicalUse.objects.filter(caller=caller_of(user)), "slug", "count", "last_kind", "last_used_at"
        ),
        "audit": _select(
            AuditEntry.objects.filter(Q(user=user) | Q(as_user=user)),
            "at",
            "action",
            "target",
            "detail",
            "address",
        ),
    }


def _select(rows: QuerySet[Any], *columns: str) -> Iterator[dict[str, Any]]:
    return (
        {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows.order_by("pk").values(*columns).iterator(chunk_size=_ROWS_AT_ONCE)
    )
