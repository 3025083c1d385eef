"""Display names of the skills that runs belong to."""

from __future__ import annotations

from collections.abc import Iterable

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Run


@reader
def skill_names(runs: Iterable[Run], actor: Actor) -> Reads[dict[int, str]]:
    """Maps each run's primary key to the name of its skill, or to the skill's label if the actor can't see
    the skill.
    """
    runs = list(runs)
    keys = {run.skill_id for run in runs if run.skill_id}
    yield (visible := Skill.objects.visible_to(actor).filter(pk__in=keys).values_list("pk", "name"))
    names: dict[int | None, str] = dict(visible)
    return {run.pk: names.get(run.skill_id) or run.skill_label for run in runs}
