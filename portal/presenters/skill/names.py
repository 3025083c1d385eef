"""Display names of the skills that runs belong to."""

from __future__ import annotations

from collections.abc import Iterable

from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Run


def skill_names(runs: Iterable[Run], actor: Actor) -> dict[int, str]:
    """Maps each run's primary key to the name of its skill, or to the skill's label if the actor can't see
    the skill.
    """
    runs = list(runs)
    keys = {run.skill_id for run in runs if run.skill_id}
    visible = Skill.objects.visible_to(actor).filter(pk__in=keys)
    names: dict[int | None, str] = dict(visible.values_list("pk", "name")) if keys else {}
    return {run.pk: names.get(run.skill_id) or run.skill_label for run in runs}
