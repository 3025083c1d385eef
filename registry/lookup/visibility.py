"""Decides whether an actor may see a row that was fetched by its address.

Applies the rules of ``resolvable_by`` and ``visible_to`` in Python, because compiling them to SQL takes
longer than all queries of a read request.
"""

from registry.identity.actors import Actor
from registry.identity.permissions import Action, role_permits
from registry.models import Skill, Version


def is_resolvable(skill: Skill, actor: Actor) -> bool:
    """Whether the skill's address works for the actor, as in ``Skill.objects.resolvable_by``."""
    if sees_held_versions(skill, actor):
        return True
    return role_permits(actor, Action.SEE, skill=skill) and not _is_fully_held(skill)


def is_visible_skill(skill: Skill, actor: Actor) -> bool:
    """Whether the actor may see the skill, as in ``Skill.objects.visible_to``."""
    return skill.merged_into_id is None and skill.purged_at is None and is_resolvable(skill, actor)


def is_visible(version: Version, actor: Actor) -> bool:
    """Whether the actor may see the version, as in ``Version.objects.visible_to``."""
    skill = version.skill
    return is_resolvable(skill, actor) and (not version.is_held or sees_held_versions(skill, actor))


def sees_held_versions(skill: Skill, actor: Actor) -> bool:
    """Whether the actor may see held versions of the skill: administrators and members of its team."""
    return actor.is_administrator or skill.team_id in actor.team_ids


def _is_fully_held(skill: Skill) -> bool:
    if skill.latest_id is not None:
        return False
    return skill.versions.exists() and not skill.versions.unheld().exists()
