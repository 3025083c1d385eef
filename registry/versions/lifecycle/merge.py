"""Merges a skill into another one. The address of the merged skill redirects and stays reserved."""

from django.db import transaction

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill
from registry.versions.errors import MERGE_INVALID
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_skill


@transaction.atomic
def merge(skill: Skill, into: Skill, actor: Actor) -> Skill:
    """Redirects the address of ``skill`` to ``into``, removes ``skill`` from search, and returns ``into``.
    Exact versions of ``skill`` keep working.

    Requires permission to transfer ``skill`` and to publish ``into``. Raises MERGE_INVALID if both are the
    same skill or one was merged before, and NOT_FOUND if one was purged.
    """
    require(actor, Action.TRANSFER, skill=skill)
    require(actor, Action.PUBLISH, skill=into)
    first, second = sorted((skill, into), key=lambda each: each.pk)  # a fixed lock order prevents deadlocks
    rows = {row.pk: row for row in (lock_skill(first), lock_skill(second))}
    if len(rows) < 2 or any(row.merged_into_id for row in rows.values()):
        raise MERGE_INVALID.refusal(skill=str(skill), into=str(into)).at("into")
    skill, into = rows[skill.pk], rows[into.pk]
    skill.merged.update(merged_into=into)  # so that merges never form a chain
    skill.merged_into = into
    update_latest(skill)
    into.save(update_fields=["updated_at"])
    audit.record(actor, "skill.merge", str(skill), team=skill.team, into=str(into))
    return into
