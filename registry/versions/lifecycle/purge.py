"""Purges versions and skills: deletes their content and derived data. Numbers, digests and names stay
reserved.
"""

from django.db import transaction
from django.utils import timezone

from registry.erasure import hooks
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Source, SourceKind, Tombstone, Version
from registry.versions.lifecycle.yank import validate_reason
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_skill, lock_version


@transaction.atomic
def purge_version(version: Version, actor: Actor, *, reason: str) -> Tombstone:
    reason = validate_reason(reason)
    version = lock_version(version, actor, Action.DELETE)
    skill = version.skill
    tombstone = _purge_version_rows(version, actor, reason)
    update_latest(skill)
    audit.record(
        actor,
        "version.purge",
        f"{skill}@{tombstone.number}",
        team=skill.team,
        reason=reason,
        digest=tombstone.digest,
    )
    return tombstone


@transaction.atomic
def purge_skill(skill: Skill, actor: Actor, *, reason: str) -> Skill:
    """Purges all versions of the skill and of the skills merged into it. The name stays reserved.

    Requires permission to delete. Raises TEXT_INVALID for an invalid reason, and NOT_FOUND if the skill was
    purged before.
    """
    reason = validate_reason(reason)
    require(actor, Action.DELETE, skill=skill)
    skill = lock_skill(skill)
    for merged in skill.merged.filter(purged_at=None):
        _purge_all_versions(lock_skill(merged), actor, reason)
    _purge_all_versions(skill, actor, reason)
    return skill


def _purge_all_versions(skill: Skill, actor: Actor, reason: str) -> None:
    tombstones = [_purge_version_rows(version, actor, reason) for version in skill.versions.all()]
    skill.suppressions.all().delete()
    skill.purged_at = timezone.now()
    update_latest(skill)
    numbers = [tombstone.number for tombstone in tombstones]
    audit.record(actor, "skill.purge", str(skill), team=skill.team, reason=reason, versions=numbers)


def _purge_version_rows(version: Version, actor: Actor, reason: str) -> Tombstone:
    """Deletes the version with its derived data, and returns its new tombstone. Blobs that are no longer used
    are deleted after the commit.
    """
    skill, number, digest = version.skill, version.number, version.digest
    archive = _forget_archive(version)
    if skill.latest_id == version.pk:
        skill.latest = None
        skill.save(update_fields=["latest"])
    version.delete()
    hooks.discard_on_commit(hooks.erase_version(skill, number, digest) | archive)
    return Tombstone.objects.create(
        skill=skill, number=number, digest=digest, reason=reason, purged_by=actor.user
    )


def _forget_archive(version: Version) -> set[str]:
    """Removes from the source the reference to the archive from which the version was imported.
    The archive contains the version's files. Returns a set with the archive's digest; an empty
    set if there is no archive.
    """
    if "archive" not in version.provenance:
        return set()
    digest = str(version.provenance["digest"])
    Source.objects.filter(kind=SourceKind.ARCHIVE, last_revision=digest).update(last_revision="")
    return {digest}
