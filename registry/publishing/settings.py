"""What maintainers set about a skill; nothing of it touches a published byte."""

from __future__ import annotations

from django.db import transaction

from registry import audit, indexing
from registry.actors import Actor
from registry.models import Skill
from registry.permissions import Action, require
from registry.publishing.draft import check_visibility


@transaction.atomic
def set_visibility(skill: Skill, visibility: str, actor: Actor) -> None:
    """Shows the skill to others, or to them no longer; its search terms are counted with its new peers."""
    require(actor, Action.SETTINGS, skill=skill)
    check_visibility(visibility)
    locked = Skill.objects.select_for_update().get(pk=skill.pk)
    before, locked.visibility = locked.visibility, visibility
    locked.save(update_fields=["visibility", "updated_at"])
    indexing.recount(locked)
    audit.record(actor, "skill.visibility", str(skill), team=skill.team, before=before, after=visibility)
    skill.refresh_from_db(fields=["visibility", "search_scope", "updated_at"])
