"""Renames skills. Old addresses redirect and are never reused."""

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
    """Changes the skill's slug, its team, or both. Raises FORBIDDEN (for either team) or SLUG_TAKEN."""
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
