"""Renames skills and moves them to other teams. A former address redirects, and no other skill
can take it.
"""

from django.db import IntegrityError, transaction

from registry.core import text
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Redirect, Skill, Team
from registry.packages.problems import Refusal
from registry.versions.errors import SLUG_TAKEN
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_skill


def rename(skill: Skill, actor: Actor, *, slug: str = "", team: Team | None = None) -> Skill:
    """Changes the skill's slug, its team, or both, and reindexes the skill.

    Requires permission to transfer the skill, and to publish for the new team. Raises SLUG_INVALID,
    SLUG_TAKEN if another skill has or had the address, and NOT_FOUND if the skill was purged.
    """
    require(actor, Action.TRANSFER, skill=skill)
    if slug:
        text.validated_slug(slug)
    if team:
        require(actor, Action.PUBLISH, team=team)
    try:
        with transaction.atomic():
            return _rename(lock_skill(skill), actor, slug or skill.slug, team or skill.team)
    except IntegrityError:
        raise _slug_taken_error(slug or skill.slug, team or skill.team) from None


def _rename(skill: Skill, actor: Actor, slug: str, team: Team) -> Skill:
    before, old_team, old_slug = str(skill), skill.team, skill.slug
    if (old_team.pk, old_slug) == (team.pk, slug):
        return skill
    skill.team, skill.slug = team, slug
    skill.save(update_fields=["team", "slug"])
    Redirect.objects.filter(team=team, slug=slug, to=skill).delete()  # a former name is used again
    if Redirect.objects.filter(team=team, slug=slug).exists():
        raise _slug_taken_error(slug, team)
    Redirect.objects.create(team=old_team, slug=old_slug, to=skill)
    update_latest(skill, reindex=True)
    audit.record(actor, "skill.rename", str(skill), team=old_team, before=before)
    return skill


def _slug_taken_error(slug: str, team: Team) -> Refusal:
    return SLUG_TAKEN.refusal(skill=f"{team.slug}/{slug}").at("slug")
