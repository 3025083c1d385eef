"""Changes the settings of skills and versions. Published files never change."""

from __future__ import annotations

from django.db import transaction

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.index import postings
from registry.models import Skill, Version
from registry.versions.publishing.draft import check_visibility, validate_changelog
from registry.versions.publishing.locks import lock_version


@transaction.atomic
def set_visibility(skill: Skill, visibility: str, actor: Actor) -> None:
    """Saves the skill's visibility and moves its search terms to the new scope; also updates ``skill`` in
    memory. Requires permission to change settings. Raises VISIBILITY_UNKNOWN for an unknown value.
    """
    require(actor, Action.SETTINGS, skill=skill)
    check_visibility(visibility)
    locked = Skill.objects.select_for_update().get(pk=skill.pk)
    before, locked.visibility = locked.visibility, visibility
    locked.save(update_fields=["visibility", "updated_at"])
    postings.recount(locked)
    audit.record(actor, "skill.visibility", str(skill), team=skill.team, before=before, after=visibility)
    skill.refresh_from_db(fields=["visibility", "search_scope", "updated_at"])


@transaction.atomic
def set_changelog(version: Version, text: str, actor: Actor) -> Version:
    text = validate_changelog(text)
    version = lock_version(version, actor, Action.RELEASE)
    if version.changelog != text:
        version.changelog = text
        version.save(update_fields=["changelog"])
        version.skill.save(update_fields=["updated_at"])
        audit.record(actor, "version.changelog", str(version), team=version.skill.team)
    return version
