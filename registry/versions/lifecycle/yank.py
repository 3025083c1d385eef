"""Yanks and deprecates versions, and deprecates skills. Users of these versions and skills get a notice."""

from django.db import transaction
from django.utils import timezone

from registry.core import text
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Version
from registry.packages.version_numbers import normalise
from registry.versions.errors import SUCCESSOR_INVALID
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_skill, lock_version


@transaction.atomic
def yank(version: Version, actor: Actor, *, reason: str) -> Version:
    """Hides the version from search, ``latest`` and channels; its exact number still works. Does nothing if
    the version is already yanked.

    Requires permission to manage versions. Raises TEXT_INVALID for an invalid reason, and NOT_FOUND for a
    purged version.
    """
    reason = validate_reason(reason)
    version = lock_version(version, actor, Action.RELEASE)
    if version.yanked_at is None:
        version.yanked_at, version.yank_reason = timezone.now(), reason
        version.save(update_fields=["yanked_at", "yank_reason"])
        update_latest(version.skill)
        audit.record(actor, "version.yank", str(version), team=version.skill.team, reason=reason)
    return version


@transaction.atomic
def unyank(version: Version, actor: Actor) -> Version:
    version = lock_version(version, actor, Action.RELEASE)
    if version.yanked_at:
        version.yanked_at, version.yank_reason = None, ""
        version.save(update_fields=["yanked_at", "yank_reason"])
        update_latest(version.skill)
        audit.record(actor, "version.unyank", str(version), team=version.skill.team)
    return version


@transaction.atomic
def yank_all(skill: Skill, actor: Actor, *, reason: str) -> None:
    """Yanks all versions of the skill that are not yanked. Raises the errors of ``yank``."""
    require(actor, Action.RELEASE, skill=skill)
    for version in lock_skill(skill).versions.filter(yanked_at=None).select_related("skill__team"):
        yank(version, actor, reason=reason)


@transaction.atomic
def unyank_all(skill: Skill, actor: Actor) -> None:
    """Undoes ``yank_all``: restores the versions that were yanked for the same reason as the last one."""
    require(actor, Action.RELEASE, skill=skill)
    yanked = lock_skill(skill).versions.filter(yanked_at__isnull=False).select_related("skill__team")
    last = yanked.order_by("-yanked_at").first()
    for version in yanked.filter(yank_reason=last.yank_reason) if last else ():
        unyank(version, actor)


@transaction.atomic
def deprecate_version(version: Version, actor: Actor, *, reason: str, successor: str = "") -> Version:
    """Deprecates the version, or changes its reason and successor. Requires permission to manage versions.

    ``successor`` is a version number. Raises SUCCESSOR_INVALID unless it is another version of the skill that
    is neither yanked nor held.
    """
    reason = validate_reason(reason)
    version = lock_version(version, actor, Action.RELEASE)
    if successor:
        number = normalise(successor) or successor
        others = version.skill.versions.usable().exclude(pk=version.pk)
        if not others.filter(number=number).exists():
            raise SUCCESSOR_INVALID.refusal(successor=successor[:80]).at("successor")
        successor = number
    if (version.deprecation_reason, version.successor) != (reason, successor):
        version.deprecated_at = version.deprecated_at or timezone.now()
        version.deprecation_reason, version.successor = reason, successor
        _save_deprecation(version, actor, "version.deprecate", reason=reason, successor=successor)
    return version


@transaction.atomic
def undeprecate_version(version: Version, actor: Actor) -> Version:
    version = lock_version(version, actor, Action.RELEASE)
    if version.deprecated_at:
        version.deprecated_at, version.deprecation_reason, version.successor = None, "", ""
        _save_deprecation(version, actor, "version.undeprecate")
    return version


@transaction.atomic
def deprecate_skill(skill: Skill, actor: Actor, *, reason: str, successor: Skill | None = None) -> Skill:
    """Deprecates the skill, or changes its reason and successor. Requires permission to manage versions.
    Raises SUCCESSOR_INVALID if the successor is the skill itself or has the skill as its own successor.
    """
    reason = validate_reason(reason)
    require(actor, Action.RELEASE, skill=skill)
    skill = lock_skill(skill)
    if successor and (successor.pk == skill.pk or successor.successor_id == skill.pk):
        raise SUCCESSOR_INVALID.refusal(successor=str(successor)).at("successor")
    if (skill.deprecation_reason, skill.successor_id) != (reason, successor.pk if successor else None):
        skill.deprecated_at = skill.deprecated_at or timezone.now()
        skill.deprecation_reason, skill.successor = reason, successor
        skill.save(update_fields=["deprecated_at", "deprecation_reason", "successor", "updated_at"])
        named = str(successor) if successor else ""
        audit.record(actor, "skill.deprecate", str(skill), team=skill.team, reason=reason, successor=named)
    return skill


@transaction.atomic
def undeprecate_skill(skill: Skill, actor: Actor) -> Skill:
    require(actor, Action.RELEASE, skill=skill)
    skill = lock_skill(skill)
    if skill.deprecated_at:
        skill.deprecated_at, skill.deprecation_reason, skill.successor = None, "", None
        skill.save(update_fields=["deprecated_at", "deprecation_reason", "successor", "updated_at"])
        audit.record(actor, "skill.undeprecate", str(skill), team=skill.team)
    return skill


def validate_reason(reason: str) -> str:
    return text.validated(reason, field="reason", max_length=500)


def _save_deprecation(version: Version, actor: Actor, action: str, **detail: object) -> None:
    version.save(update_fields=["deprecated_at", "deprecation_reason", "successor"])
    version.skill.save(update_fields=["updated_at"])
    audit.record(actor, action, str(version), team=version.skill.team, **detail)
