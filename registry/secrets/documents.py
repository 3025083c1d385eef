"""Secrets as the JSON objects of API and commands: names, dates and grants, never a value."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from registry.actors import Actor
from registry.models import Secret, SecretGrant, Team, Version
from registry.moments import moment
from registry.secrets.giving import given_to
from registry.secrets.granting import grants_of, hosts_of, reach_of, starts_of
from registry.secrets.keeping import secrets_of
from registry.secrets.reviews import reviewed_by


def secrets_document(team: Team, actor: Actor) -> dict[str, Any]:
    grants: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = list(secrets_of(team, actor))
    for grant in grants_of(team):
        grants[grant.secret_id].append(grant_document(grant))
    return {"items": [secret_document(row, grants[row.pk]) for row in rows]}


def secret_document(row: Secret, grants: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": row.name,
        "team": row.team.slug,
        "set_by": row.set_by.username if row.set_by else None,
        "set_at": moment(row.set_at),
        "grants": grants,
    }


def grant_document(row: SecretGrant) -> dict[str, Any]:
    return {
        "id": row.uid,
        "secret": row.secret.name,
        "skill": str(row.skill),
        "to": "version" if row.digest else "reviewed",
        "version": row.version_number or None,
        "digest": row.digest or None,
        "hosts": list(hosts_of(row)),
        "granted_by": row.granted_by.username if row.granted_by else None,
        "granted_at": moment(row.granted_at),
        "revoked_at": moment(row.revoked_at),
    }


def needs_document(version: Version, team: Team) -> dict[str, Any]:
    """Which secrets a version names, how it stands with each in the team, and where they could go."""
    review = reviewed_by(version, team)
    return {
        "skill": str(version.skill),
        "version": version.number,
        "team": team.slug,
        "secrets": [
            {"name": each.name, "is_set": each.is_set, "granted": bool(each.grant)}
            for each in given_to(version, team)
        ],
        "hosts": list(reach_of(version)),
        "starts": list(starts_of(version)),
        "reviewed_by": review.reviewer.username if review and review.reviewer else None,
        "reviewed_at": moment(review.reviewed_at) if review else None,
    }
