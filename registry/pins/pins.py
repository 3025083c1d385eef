"""Lists the skills that a person pinned to their home page."""

from __future__ import annotations

from django.db.models import QuerySet

from registry.core.sql import Reads, prepared, reader
from registry.identity.actors import Actor
from registry.models import PinnedSkill, Skill, User

MAX_SHOWN = 12


def pin(user: User, skill: Skill) -> None:
    PinnedSkill.objects.get_or_create(user=user, skill=skill)


def unpin(user: User, skill: Skill) -> None:
    PinnedSkill.objects.filter(user=user, skill=skill).delete()


@reader
def is_pinned(actor: Actor, skill: Skill) -> Reads[bool]:
    if actor.user is None:
        return False
    yield (found := _pins(actor.user.pk, skill.pk))
    return bool(found)


@prepared
def _pins(user: int, skill: int) -> QuerySet[PinnedSkill, int]:
    return PinnedSkill.objects.filter(user_id=user, skill_id=skill).values_list("pk", flat=True)


@reader
def list_pinned_skills(actor: Actor) -> Reads[list[Skill]]:
    """The pinned skills that the actor may still see, most recently pinned first; at most ``MAX_SHOWN``."""
    if actor.user is None:
        return []
    skills = Skill.objects.visible_to(actor).filter(pins__user=actor.user, latest__isnull=False)
    rows = skills.select_related("team", "latest").defer("latest__manifest", "latest__body")
    yield (pinned := rows.order_by("-pins__pk")[:MAX_SHOWN])
    return list(pinned)
