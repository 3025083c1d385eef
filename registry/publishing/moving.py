"""New addresses for skills: the old ones lead on, and are never given to another."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from registry import audit, texts
from registry.actors import Actor
from registry.models import Redirect, Skill, Team
from registry.packages.problems import Refused, refuse
from registry.permissions import Action, require
from registry.publishing.latest import show_latest
from registry.publishing.locking import locked


def rename(skill: Skill, actor: Actor, *, slug: str = "", team: Team | None = None) -> Skill:
    """Gives the skill another slug, another team to which the actor may publish, or both."""
    require(actor, Action.TRANSFER, skill=skill)
    if slug:
        texts.slug(slug)
    if team:
        require(actor, Action.PUBLISH, team=team)
    try:
        with transaction.atomic():
            return _rename(locked(skill), actor, slug or skill.slug, team or skill.team)
    except IntegrityError:
        raise _taken(slug or skill.slug, team or skill.team) from None


@transaction.atomic
def merge(skill: Skill, into: Skill, actor: Actor) -> Skill:
    """Retires ``skill``: its name means ``into`` from now on, exact versions of it stay what they were."""
    require(actor, Action.TRANSFER, skill=skill)
    require(actor, Action.PUBLISH, skill=into)
    first, second = sorted(
        (skill, into), key=lambda each: each.pk
    )  # in one order, so that none waits in a ring
    rows = {row.pk: row for row in (locked(first), locked(second))}
    if len(rows) < 2 or any(row.merged_into_id for row in rows.values()):
        raise refuse("MERGE_INVALID", path="into", skill=str(skill), into=str(into))
    skill, into = rows[skill.pk], rows[into.pk]
    skill.merged.update(merged_into=into)  # never a chain
    skill.merged_into = into
    show_latest(skill)
    into.save(update_fields=["updated_at"])
    audit.record(actor, "skill.merge", str(skill), team=skill.team, into=str(into))
    return into


def _rename(skill: Skill, actor: Actor, slug: str, team: Team) -> Skill:
    before, old_team, old_slug = str(skill), skill.team, skill.slug
    if (old_team.pk, old_slug) == (team.pk, slug):
        return skill
    skill.team, skill.slug = team, slug
    skill.save(update_fields=["team", "slug"])
    Redirect.objects.filter(team=team, slug=slug, to=skill).delete()  # back to a name that it had
    if Redirect.objects.filter(team=team, slug=slug).exists():
        raise _taken(slug, team)
    Redirect.objects.create(team=old_team, slug=old_slug, to=skill)
    show_latest(skill, again=True)
    audit.record(actor, "skill.rename", str(skill), team=old_team, before=before)
    return skill


def _taken(slug: str, team: Team) -> Refused:
    return refuse("SLUG_TAKEN", path="slug", skill=f"{team.slug}/{slug}")
