"""One writer of a skill at a time."""

from __future__ import annotations

from registry.actors import Actor
from registry.models import Skill, Version
from registry.packages.problems import refuse
from registry.permissions import Action, require


def locked(skill: Skill) -> Skill:
    """The row as it is now, until the transaction ends; NOT_FOUND where it went meanwhile."""
    row = Skill.objects.select_for_update(of=("self",)).select_related("team").filter(pk=skill.pk).first()
    if row is None or row.purged_at:
        raise refuse("NOT_FOUND", what="skill", name=str(skill))
    return row


def locked_version(version: Version, actor: Actor, action: Action) -> Version:
    """The version as it is now and may be changed by the actor, under its skill's lock."""
    require(actor, action, skill=version.skill)
    skill = locked(version.skill)
    row = skill.versions.filter(pk=version.pk).first()
    if row is None:
        raise refuse("NOT_FOUND", what="version", name=str(version))
    row.skill = skill
    return row
