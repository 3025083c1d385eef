"""Grants: which skill's runs get a secret of a team, for one digest or for the versions it has reviewed."""

from __future__ import annotations

import re

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Secret, SecretGrant, Team, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import refuse
from registry.permissions import Action, require
from registry.secrets.keeping import require_person

GRANTED_FOR = ("version", "reviewed")
_PATH = re.compile(r"(?<![:/])/.*", re.DOTALL)


def grants_of(team: Team) -> QuerySet[SecretGrant]:
    """Those that stand, by secret."""
    rows = SecretGrant.objects.filter(secret__team=team, revoked_at=None)
    return rows.select_related("secret", "skill__team", "granted_by").order_by("secret__name", "pk")


def granted_for(version: Version, team: Team) -> QuerySet[SecretGrant]:
    """Those that reach this version now."""
    reviewed = version.reviews.filter(team=team).exists()
    reached = Q(digest=version.digest) | (Q(digest="") if reviewed else Q(pk=None))
    return grants_of(team).filter(reached, skill=version.skill_id)


def reach_of(version: Version) -> tuple[str, ...]:
    """The hosts to which a run of the version could carry what it is given; none where it has no network.

    Without the path of an entry, which holds nobody back: whoever grants must not think that it does.
    """
    security = manifest_of(version.manifest).security
    listed = security.network_allowlist if security.network == "allowlist" else ()
    return tuple(dict.fromkeys(_PATH.sub("", entry) for entry in listed))


def hosts_of(row: SecretGrant) -> tuple[str, ...]:
    """Those that were shown when it was granted, and those of each version that has been reviewed since."""
    reviewed = Version.objects.filter(skill=row.skill_id, reviews__team=row.secret.team_id)
    later = () if row.digest else (host for version in reviewed for host in reach_of(version))
    return tuple(dict.fromkeys((*row.hosts, *later)))


def starts_of(version: Version) -> tuple[str, ...]:
    """The skills that a run of it may start, and hand what it is given; each reaches hosts of its own."""
    return manifest_of(version.manifest).requires


@transaction.atomic
def grant(secret: Secret, version: Version, actor: Actor, *, to: str = "version") -> SecretGrant:
    """Gives the secret to runs of this digest, or (``to="reviewed"``) of versions that its team has reviewed.

    By a person who may grant; refused for a secret that the version does not ask for.
    """
    require_person(actor)
    require(actor, Action.SEE, skill=version.skill)
    require(actor, Action.GRANT, team=secret.team)
    if secret.name not in manifest_of(version.manifest).security.secrets:
        raise refuse("SECRET_UNASKED", path="name", version=str(version), name=secret.name)
    only = to != "reviewed"
    hosts = reach_of(version)
    row, created = SecretGrant.objects.get_or_create(
        secret=secret,
        skill=version.skill,
        digest=version.digest if only else "",
        revoked_at=None,
        defaults={
            "version_number": version.number if only else "",
            "hosts": list(hosts),
            "granted_by": actor.user,
            "granted_at": timezone.now(),
        },
    )
    if created:
        detail = {"version": str(version), "to": to, "hosts": list(hosts)}
        audit.record(actor, "secret.grant", f"{secret.team}/{secret.name}", team=secret.team, **detail)
    return row


@transaction.atomic
def revoke(uid: str, team: Team, actor: Actor) -> SecretGrant:
    """From the next run on it is not given; a second time changes nothing."""
    require_person(actor)
    require(actor, Action.SETTINGS, team=team)
    row = (
        SecretGrant.objects.select_related("secret", "skill__team").filter(uid=uid, secret__team=team).first()
    )
    if row is None:
        raise refuse("NOT_FOUND", what="grant", name=uid[:40])
    if SecretGrant.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=timezone.now()):
        audit.record(actor, "secret.revoke", f"{team}/{row.secret.name}", team=team, skill=str(row.skill))
    row.refresh_from_db(fields=["revoked_at"])
    return row
