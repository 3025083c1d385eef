from datetime import timedelta

from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, reader
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may
from registry.models import AuditEntry
from worker.models import Run
from worker.queue import states

_CANCELLED = "run.cancel"  # the action of the entry
_RECORDED_WITHIN = timedelta(minutes=1)  # the audit log has an index of times, but none of targets


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


@reader
def cancelled_by(run: Run) -> Reads[str]:
    """The name of the user who cancelled another user's run, from the audit log; "" if unknown.

    The log has no entry if the caller cancelled the run, or if it was cancelled with its parent.
    """
    at = run.cancel_requested_at
    if at is None:
        return ""
    entries = AuditEntry.objects.filter(at__range=(at, at + _RECORDED_WITHIN))
    entries = entries.filter(action=_CANCELLED, target=run.uid, user__isnull=False).order_by("at")
    yield (names := entries.values_list("user__username", flat=True)[:1])
    return next(iter(names), "")


def _has_run_scope(actor: Actor, run: Run) -> bool:
    """Whether the actor's token may run the skill; True without a token. A token that can't start runs can't
    cancel them either.
    """
    return actor.token is None or (run.skill is not None and may(actor, Action.RUN, skill=run.skill))
