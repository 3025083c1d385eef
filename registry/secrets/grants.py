"""Grants of a team's secrets to skills: for one digest, or for all versions that the team has reviewed."""

import re

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.additions.additions import additions_from_document, additions_of, effective_manifest
from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Secret, SecretGrant, Team, Version
from registry.packages.manifest.manifest import manifest_of
from registry.secrets.errors import SECRET_NOT_DECLARED
from registry.secrets.reviews import find_review
from registry.secrets.values import require_person

GRANT_TARGETS = ("version", "reviewed")
_PATH = re.compile(r"(?<![:/])/.*", re.DOTALL)


def grants_of(team: Team) -> QuerySet[SecretGrant]:
    """The team's grants that are not revoked, sorted by secret name."""
    rows = SecretGrant.objects.filter(secret__team=team, revoked_at=None)
    return rows.select_related("secret", "skill__team", "granted_by").order_by("secret__name", "pk")


@reader
def grants_for_version(version: Version, team: Team) -> Reads[list[SecretGrant]]:
    """The team's active grants that apply to this version. These are the grants for its digest and, if the
    team has reviewed the version, those for all reviewed versions. Excludes grants and reviews that are older
    than an addition of the version.
    """
    additions = additions_of(version)
    rows = grants_of(team).filter(digest__in=(version.digest, ""), skill=version.skill_id)
    review, _ = yield from gather(find_review.reads(version, team), reads_of(rows))
    return [
        row
        for row in rows
        if (additions.is_covered_by(additions_from_document(row.additions)) if row.digest else review)
    ]


def allowed_hosts(version: Version) -> tuple[str, ...]:
    """The hosts that a run of the version can reach; empty if the version declares no network access.

    Paths of allowlist entries are omitted, because the sandbox does not enforce them.
    """
    security = effective_manifest(version).security
    allowlist = security.network_allowlist if security.network == "allowlist" else ()
    return tuple(dict.fromkeys(_PATH.sub("", entry) for entry in allowlist))


def grant_hosts(row: SecretGrant) -> tuple[str, ...]:
    """The hosts that the version could reach when the grant was made. A grant for reviewed versions adds the
    hosts of all versions reviewed now.
    """
    reviewed = Version.objects.filter(skill=row.skill_id, reviews__team=row.secret.team_id)
    current = (version for version in reviewed if find_review(version, row.secret.team))
    reviewed_hosts = () if row.digest else (host for version in current for host in allowed_hosts(version))
    return tuple(dict.fromkeys((*row.hosts, *reviewed_hosts)))


def startable_skills(version: Version) -> tuple[str, ...]:
    """Labels of the skills that a run of the version may start and pass secrets to. Each of these skills can
    reach its own hosts.
    """
    return manifest_of(version.manifest).requires


@transaction.atomic
def grant(secret: Secret, version: Version, actor: Actor, *, to: str = "version") -> SecretGrant:
    """Grants the secret to runs of the version's digest, or with ``to="reviewed"`` to all reviewed
    versions. If there is an active grant of the same kind, returns that grant. A grant for a digest is
    extended to the version's present additions.

    Requires the owner role or administrator rights, and a session. Otherwise raises FORBIDDEN, or NOT_FOUND
    if the actor can't see the skill. Raises SECRET_NOT_DECLARED if the version does not declare the secret.
    """
    require_person(actor)
    require(actor, Action.SEE, skill=version.skill)
    require(actor, Action.GRANT, team=secret.team)
    if secret.name not in effective_manifest(version).security.secrets:
        raise SECRET_NOT_DECLARED.refusal(version=str(version), name=secret.name).at("name")
    for_version = to != "reviewed"
    hosts, additions = allowed_hosts(version), additions_of(version)
    row, created = SecretGrant.objects.get_or_create(
        secret=secret,
        skill=version.skill,
        digest=version.digest if for_version else "",
        revoked_at=None,
        defaults={
            "version_number": version.number if for_version else "",
            "hosts": list(hosts),
            "additions": additions.document(),
            "granted_by": actor.user,
            "granted_at": timezone.now(),
        },
    )
    widened = for_version and not additions.is_covered_by(additions_from_document(row.additions))
    if widened:
        row.hosts, row.additions = list(hosts), additions.document()
        row.granted_by, row.granted_at = actor.user, timezone.now()
        row.save(update_fields=["hosts", "additions", "granted_by", "granted_at"])
    if created or widened:
        detail = {"version": str(version), "to": to, "hosts": list(hosts)}
        audit.record(actor, "secret.grant", f"{secret.team}/{secret.name}", team=secret.team, **detail)
    return row


@transaction.atomic
def revoke(uid: str, team: Team, actor: Actor) -> SecretGrant:
    """Revokes the grant, so that runs that start later don't get the secret. A second call changes nothing.

    Requires the maintainer role or administrator rights, and a session; otherwise raises FORBIDDEN. Raises
    NOT_FOUND if the team has no such grant.
    """
    require_person(actor)
    require(actor, Action.SETTINGS, team=team)
    row = (
        SecretGrant.objects.select_related("secret", "skill__team").filter(uid=uid, secret__team=team).first()
    )
    if row is None:
        raise NOT_FOUND.refusal(what="grant", name=uid[:40])
    if SecretGrant.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=timezone.now()):
        audit.record(actor, "secret.revoke", f"{team}/{row.secret.name}", team=team, skill=str(row.skill))
    row.refresh_from_db(fields=["revoked_at"])
    return row
