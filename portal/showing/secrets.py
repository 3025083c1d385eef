"""Secrets fit to show: whose they are, what they are granted to, and how it stands with a version."""

from __future__ import annotations

from dataclasses import dataclass

from registry import secrets
from registry.actors import Actor
from registry.models import Secret, SecretGrant, Team, Version, VersionReview


@dataclass(frozen=True)
class SecretRow:
    """A secret with its grants, each with the hosts to which it lets it be carried."""

    secret: Secret
    grants: tuple[tuple[SecretGrant, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Lacking:
    """What keeps a version from being run for a team: secrets that are not set, or not granted to it."""

    version: Version
    team: Team | None
    needs: tuple[secrets.Given, ...]


@dataclass(frozen=True)
class Asked:
    """A version, the secrets that it names, and where a run could carry them: hosts and skills."""

    version: Version
    needs: tuple[secrets.Given, ...]
    hosts: tuple[str, ...]
    starts: tuple[str, ...]
    review: VersionReview | None
    may_review: bool


def secret_rows(team: Team, actor: Actor) -> list[SecretRow]:
    grants = list(secrets.grants_of(team))
    return [
        SecretRow(row, tuple((each, secrets.hosts_of(each)) for each in grants if each.secret_id == row.pk))
        for row in secrets.secrets_of(team, actor)
    ]


def lacking_of(version: Version, team: Team | None) -> Lacking | None:
    given = secrets.given_to(version, team)
    missing = secrets.missing_of(given)
    return Lacking(version, team, tuple(each for each in given if each.name in missing)) if missing else None


def asked_of(version: Version, team: Team, actor: Actor) -> Asked:
    return Asked(
        version,
        secrets.given_to(version, team),
        secrets.reach_of(version),
        secrets.starts_of(version),
        secrets.reviewed_by(version, team),
        secrets.may_review(version, team, actor),
    )
