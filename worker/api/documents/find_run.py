from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from worker.models import Run, RunQuerySet


def find_run(uid: str, actor: Actor) -> Run:
    """Returns the run with its team and caller loaded; raises NOT_FOUND if the actor can't see it."""
    return _find(Run.objects.all(), uid, actor)


def find_readable_run(uid: str, actor: Actor) -> Run:
    """Returns the run with its team and caller loaded, and its request and result deferred.

    Raises NOT_FOUND if the actor can't see the run, FORBIDDEN if they can't read its content.
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
