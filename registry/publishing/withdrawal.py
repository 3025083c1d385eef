"""Yanked: got only by its exact number. Deprecated: still chosen, with a word about what is better."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from registry import audit, texts
from registry.actors import Actor
from registry.models import Skill, Version
from registry.packages.problems import refuse
from registry.packages.versions import normalise
from registry.permissions import Action, require
from registry.publishing.latest import show_latest
from registry.publishing.locking import locked, locked_version


@transaction.atomic
def yank(version: Version, actor: Actor, *, reason: str) -> Version:
    """Takes the version out of every choice; whoever names it exactly still gets it, with the reason."""
    reason = plain_reason(reason)
    version = locked_version(version, actor, Action.SETTINGS)
    if version.yanked_at is None:
        version.yanked_at, version.yank_reason = timezone.now(), reason
        version.save(update_fields=["yanked_at", "yank_reason"])
        show_latest(version.skill)
        audit.record(actor, "version.yank", str(version), team=version.skill.team, reason=reason)
    return version


@transaction.atomic
def unyank(version: Version, actor: Actor) -> Version:
    version = locked_version(version, actor, Action.SETTINGS)
    if version.yanked_at:
        version.yanked_at, version.yank_reason = None, ""
        version.save(update_fields=["yanked_at", "yank_reason"])
        show_latest(version.skill)
        audit.record(actor, "version.unyank", str(version), team=version.skill.team)
    return version


@transaction.atomic
def deprecate_version(version: Version, actor: Actor, *, reason: str, successor: str = "") -> Version:
    """Says that the version should not be used any more, and which one of the same skill should."""
    reason = plain_reason(reason)
    version = locked_version(version, actor, Action.SETTINGS)
    if successor:
        number = normalise(successor) or successor
        others = version.skill.versions.usable().exclude(pk=version.pk)
        if not others.filter(number=number).exists():
            raise refuse("SUCCESSOR_INVALID", path="successor", successor=successor[:80])
        successor = number
    if (version.deprecation, version.successor) != (reason, successor):
        version.deprecated_at = version.deprecated_at or timezone.now()
        version.deprecation, version.successor = reason, successor
        _save_deprecation(version, actor, "version.deprecate", reason=reason, successor=successor)
    return version


@transaction.atomic
def undeprecate_version(version: Version, actor: Actor) -> Version:
    version = locked_version(version, actor, Action.SETTINGS)
    if version.deprecated_at:
        version.deprecated_at, version.deprecation, version.successor = None, "", ""
        _save_deprecation(version, actor, "version.undeprecate")
    return version


@transaction.atomic
def deprecate_skill(skill: Skill, actor: Actor, *, reason: str, successor: Skill | None = None) -> Skill:
    """Says that the skill should not be used any more; ``successor`` is one that the actor may see."""
    reason = plain_reason(reason)
    require(actor, Action.SETTINGS, skill=skill)
    skill = locked(skill)
    if successor and (successor.pk == skill.pk or successor.successor_id == skill.pk):
        raise refuse("SUCCESSOR_INVALID", path="successor", successor=str(successor))
    if (skill.deprecation, skill.successor_id) != (reason, successor.pk if successor else None):
        skill.deprecated_at = skill.deprecated_at or timezone.now()
        skill.deprecation, skill.successor = reason, successor
        skill.save(update_fields=["deprecated_at", "deprecation", "successor", "updated_at"])
        named = str(successor) if successor else ""
        audit.record(actor, "skill.deprecate", str(skill), team=skill.team, reason=reason, successor=named)
    return skill


@transaction.atomic
def undeprecate_skill(skill: Skill, actor: Actor) -> Skill:
    require(actor, Action.SETTINGS, skill=skill)
    skill = locked(skill)
    if skill.deprecated_at:
        skill.deprecated_at, skill.deprecation, skill.successor = None, "", None
        skill.save(update_fields=["deprecated_at", "deprecation", "successor", "updated_at"])
        audit.record(actor, "skill.undeprecate", str(skill), team=skill.team)
    return skill


def plain_reason(reason: str) -> str:
    return texts.plain(reason, field="reason", most=500)


def _save_deprecation(version: Version, actor: Actor, action: str, **detail: object) -> None:
    version.save(update_fields=["deprecated_at", "deprecation", "successor"])
    version.skill.save(update_fields=["updated_at"])
    audit.record(actor, action, str(version), team=version.skill.team, **detail)
