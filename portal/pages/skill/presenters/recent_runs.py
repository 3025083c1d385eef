"""The strip of a skill's or version's last runs."""

from datetime import datetime

from django.db.models import QuerySet

from portal.presenters.skill.strip import LENGTH, Strip, strip_of_outcomes
from registry.core.sql import Reads, prepared, reader
from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Run


@reader
def recent_strip(skill: Skill, actor: Actor, *, number: str = "") -> Reads[Strip]:
    """The strip of the last runs visible to the actor; with ``number``, only of that version."""
    yield (rows := _last_runs(actor, skill.pk, number or None))
    return strip_of_outcomes(rows)


@prepared
def _last_runs(actor: Actor, skill: int, number: str | None) -> QuerySet[Run, tuple[str, datetime]]:
    runs = Run.objects.visible_to(actor).without_cases().filter(skill_id=skill)
    runs = runs.filter(version_number=number) if number else runs
    return runs.order_by("-id").values_list("status", "created_at")[:LENGTH]
