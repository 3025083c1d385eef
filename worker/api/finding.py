from __future__ import annotations

from registry.actors import Actor
from registry.packages.problems import refuse
from worker.models import Run


def find_run(uid: str, actor: Actor) -> Run:
    """A run whose existence the actor may know of."""
    run = Run.objects.visible_to(actor).select_related("team", "caller").filter(uid=uid).first()
    if run is None:
        raise refuse("NOT_FOUND", what="run", name=uid[:80])
    return run


def find_readable_run(uid: str, actor: Actor) -> Run:
    """A run whose inputs, log, result and artifacts the actor may read."""
    run = find_run(uid, actor)
    if not Run.objects.readable_by(actor).filter(pk=run.pk).exists():
        raise refuse("FORBIDDEN", action="read others' runs")
    return run
