"""What maintainers set about a skill; nothing of it touches a published byte."""

from __future__ import annotations

from django.db import transaction

from registry import audit, indexing
from registry.actors import Actor
from registry.models import Skill, Version
from registry.permissions import Action, require
from registry.publishing.draft import check_visibility, plain_changelog
from registry.publishing.locking import locked_version


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


@transaction.atomic
def set_changelog(version: Version, text: str, actor: Actor) -> Version:
    """What is said about a version may be mended; its bytes never are."""
    text = plain_changelog(text)
    version = locked_version(version, actor, Action.SETTINGS)
    if version.changelog != text:
        version.changelog = text
        version.save(update_fields=["changelog"])
        version.skill.save(update_fields=["updated_at"])
        audit.record(actor, "version.changelog", str(version), team=version.skill.team)
    return version
