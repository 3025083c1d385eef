from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from worker.models import Run, RunQuerySet


def find_run(uid: str, actor: Actor) -> Run:
    """The run with that uid if it is visible to the actor; raises NOT_FOUND."""
    return _find(Run.objects.all(), uid, actor)


def find_readable_run(uid: str, actor: Actor) -> Run:
    """The run with that uid if the actor can read its content; raises NOT_FOUND or FORBIDDEN.

    The content itself is read from the database when it is used.
    """
    run = _find(Run.objects.without_content(), uid, actor)
    if not Run.objects.readable_by(actor).filter(pk=run.pk).exists():
        raise FORBIDDEN.refusal(action="read others' runs")
    return run


def _find(rows: RunQuerySet, uid: str, actor: Actor) -> Run:
    run = rows.visible_to(actor).select_related("team", "caller").filter(uid=uid).first()
    if run is None:
        raise NOT_FOUND.refusal(what="run", name=uid[:80])
    return run
