"""Builds the JSON objects of secrets for API responses: names, dates and grants, never a value."""

from collections import defaultdict
from typing import Any

from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.models import Secret, SecretGrant, Team, Version
from registry.secrets.grants import allowed_hosts, grant_hosts, grants_of, startable_skills
from registry.secrets.reviews import find_review
from registry.secrets.run_secrets import secret_statuses
from registry.secrets.values import secrets_of


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
        "set_at": rfc3339(row.set_at),
        "grants": grants,
    }


def grant_document(row: SecretGrant) -> dict[str, Any]:
    return {
        "id": row.uid,
        "secret": row.secret.name,
        "skill": str(row.skill),
        "scope": "version" if row.digest else "reviewed",
        "version": row.version_number or None,
        "digest": row.digest or None,
        "hosts": list(grant_hosts(row)),
        "granted_by": row.granted_by.username if row.granted_by else None,
        "granted_at": rfc3339(row.granted_at),
        "revoked_at": rfc3339(row.revoked_at),
    }


def needs_document(version: Version, team: Team) -> dict[str, Any]:
    """The secrets that a version declares with their status in the team, the hosts and skills that could
    receive them, and the team's review.
    """
    review = find_review(version, team)
    return {
        "skill": str(version.skill),
        "version": version.number,
        "team": team.slug,
        "secrets": [
            {"name": each.name, "is_set": each.is_set, "granted": bool(each.grant)}
            for each in secret_statuses(version, team)
        ],
        "hosts": list(allowed_hosts(version)),
        "child_skills": list(startable_skills(version)),
        "reviewed_by": review.reviewer.username if review and review.reviewer else None,
        "reviewed_at": rfc3339(review.reviewed_at) if review else None,
    }
