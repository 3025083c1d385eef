from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may
from worker.models import Run
from worker.queue import states


def cancel(run: Run, *, actor: Actor) -> bool:
    """Cancels a run, with an audit entry if it is another user's; returns False if it had already ended.

    A running run ends shortly after. Raises NOT_FOUND if the actor can't see the run. Raises FORBIDDEN unless
    the actor controls the run (see ``RunQuerySet.controlled_by``) and a token of the actor may run the skill.
    """
    if not Run.objects.visible_to(actor).filter(pk=run.pk).exists():
        raise NOT_FOUND.refusal(what="run", name=run.uid)
    if not Run.objects.controlled_by(actor).filter(pk=run.pk).exists() or not _has_run_scope(actor, run):
        raise FORBIDDEN.refusal(action=Action.RUN.value)
    stopped = states.cancel(run.pk)
    if stopped and run.caller_id != (actor.user.pk if actor.user else None):
        audit.record(actor, "run.cancel", run.uid, team=run.team)
    return stopped


def _has_run_scope(actor: Actor, run: Run) -> bool:
    """Whether the actor's token may run the skill; True without a token. A token that can't start runs can't
    cancel them either.
    """
    return actor.token is None or (run.skill is not None and may(actor, Action.RUN, skill=run.skill))
