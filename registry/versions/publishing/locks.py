"""Row locks that serialize the writers of one skill."""

from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Version


def lock_skill(skill: Skill) -> Skill:
    """The current row of the skill, locked until the transaction ends. Raises NOT_FOUND if it was purged or
    deleted.
    """
    row = Skill.objects.select_for_update(of=("self",)).select_related("team").filter(pk=skill.pk).first()
    if row is None or row.purged_at:
        raise NOT_FOUND.refusal(what="skill", name=str(skill))
    return row


def lock_version(version: Version, actor: Actor, action: Action) -> Version:
    """The current row of the version, with its skill locked until the transaction ends. Requires permission
    for ``action``. Raises NOT_FOUND if the version or its skill was purged.
    """
    require(actor, action, skill=version.skill)
    skill = lock_skill(version.skill)
    row = skill.versions.filter(pk=version.pk).first()
    if row is None:
        raise NOT_FOUND.refusal(what="version", name=str(version))
    row.skill = skill
    return row
