from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import require_unarchived
from registry.models import Role
from worker.annotations.errors import RUN_CONTENT_ERASED
from worker.models import Run


def lock_for_change(run: Run, actor: Actor) -> Run:
    """Returns the run, with its row locked in the caller's transaction so that its content can't be erased.

    Raises NOT_FOUND if the actor can't see the run. Raises FORBIDDEN if they can't read it, or are a viewer
    of its team and do not control it. Raises TEAM_ARCHIVED if its team is archived, and RUN_CONTENT_ERASED if
    its content was erased.
    """
    if not Run.objects.visible_to(actor).filter(pk=run.pk).exists():
        raise NOT_FOUND.refusal(what="run", name=run.uid)
    if not Run.objects.readable_by(actor).filter(pk=run.pk).exists() or _is_only_viewer(run, actor):
        raise FORBIDDEN.refusal(action="change this run")
    rows = Run.objects.select_for_update(of=("self",), no_key=True).select_related("team").without_content()
    row = rows.get(pk=run.pk)
    require_unarchived(row.team)
    if row.erased_at is not None:
        raise RUN_CONTENT_ERASED.refusal()
    return row


def _is_only_viewer(run: Run, actor: Actor) -> bool:
    role = actor.roles.get(run.team_id) if run.team_id else None
    return role == Role.VIEWER and not Run.objects.controlled_by(actor).filter(pk=run.pk).exists()
