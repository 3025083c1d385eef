"""Presents a team's secrets, their grants, and the secrets that a version needs."""

from typing import Any

from registry.identity.actors import Actor
from registry.models import SecretGrant, Team, Version
from registry.secrets import grants, reviews, run_secrets, values


def secret_rows(team: Team, actor: Actor) -> list[dict[str, Any]]:
    """The team's secrets. Each has its grants as pairs of a grant and the hosts that can receive the
    secret.
    """
    found: dict[int, list[tuple[SecretGrant, tuple[str, ...]]]] = {}
    for grant in grants.grants_of(team):
        found.setdefault(grant.secret_id, []).append((grant, grants.grant_hosts(grant)))
    return [{"secret": row, "grants": found.get(row.pk, ())} for row in values.secrets_of(team, actor)]


def missing_secrets(version: Version, team: Team | None) -> dict[str, Any] | None:
    """The secrets that are not set or not granted for a run of the team; None if no secret is missing."""
    given = run_secrets.secret_statuses(version, team)
    missing = run_secrets.missing_secrets(given)
    needs = [each for each in given if each.name in missing]
    return {"version": version, "team": team, "needs": needs} if missing else None


def version_secrets(version: Version, team: Team, actor: Actor) -> dict[str, Any]:
    """The secrets that a version needs, its review, and the hosts and skills that can receive the secrets."""
    return {
        "version": version,
        "needs": run_secrets.secret_statuses(version, team),
        "hosts": grants.allowed_hosts(version),
        "starts": grants.startable_skills(version),
        "review": reviews.find_review(version, team),
        "may_review": reviews.may_review(version, team, actor),
    }
