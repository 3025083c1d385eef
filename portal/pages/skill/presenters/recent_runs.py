"""The strip of a skill's or version's last runs."""

from portal.presenters.skill.strip import LENGTH, Strip, strip_of
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Run


@reader
def recent_strip(skill: Skill, actor: Actor, *, number: str = "") -> Reads[Strip]:
    """The strip of the last runs visible to the actor; with ``number``, only of that version."""
    runs = Run.objects.visible_to(actor).without_cases().filter(skill=skill)
    if number:
        runs = runs.filter(version_number=number)
    yield (rows := runs.only("status", "created_at").order_by("-id")[:LENGTH])
    return strip_of(rows)
