"""Purging: content goes for good, with all that was made of it; number and digest stay, never used again."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from registry import audit, erasing
from registry.actors import Actor
from registry.models import Skill, Tombstone, Version
from registry.permissions import Action, require
from registry.publishing.latest import show_latest
from registry.publishing.locking import locked, locked_version
from registry.publishing.withdrawal import plain_reason


@transaction.atomic
def purge_version(version: Version, actor: Actor, *, reason: str) -> Tombstone:
    reason = plain_reason(reason)
    version = locked_version(version, actor, Action.DELETE)
    skill = version.skill
    stone = _bury(version, actor, reason)
    show_latest(skill)
    audit.record(
        actor, "version.purge", f"{skill}@{stone.number}", team=skill.team, reason=reason, digest=stone.digest
    )
    return stone


@transaction.atomic
def purge_skill(skill: Skill, actor: Actor, *, reason: str) -> Skill:
    """Purges every version, and those of skills that were merged into it; the name is not given again."""
    reason = plain_reason(reason)
    require(actor, Action.DELETE, skill=skill)
    skill = locked(skill)
    for merged in skill.merged.filter(purged_at=None):
        _empty(locked(merged), actor, reason)
    _empty(skill, actor, reason)
    return skill


def _empty(skill: Skill, actor: Actor, reason: str) -> None:
    stones = [_bury(version, actor, reason) for version in skill.versions.all()]
    skill.suppressions.all().delete()
    skill.purged_at = timezone.now()
    show_latest(skill)
    numbers = [stone.number for stone in stones]
    audit.record(actor, "skill.purge", str(skill), team=skill.team, reason=reason, versions=numbers)


def _bury(version: Version, actor: Actor, reason: str) -> Tombstone:
    """Takes the version's rows, its files' and channels' with them, and all that keepers made with it."""
    skill, number, digest = version.skill, version.number, version.digest
    if skill.latest_id == version.pk:
        skill.latest = None
        skill.save(update_fields=["latest"])
    version.delete()
    erasing.discard_on_commit(erasing.erase_version(skill, number, digest))
    return Tombstone.objects.create(
        skill=skill, number=number, digest=digest, reason=reason, purged_by=actor.user
    )
