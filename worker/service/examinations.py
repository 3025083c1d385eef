"""Attack tests of the sandbox (examinations), which an administrator requests and a worker runs."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from registry.core.leases import Lease, claim, keep_alive
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from worker.core.sandbox_settings import sandbox_settings
from worker.models import Examination
from worker.queue.dispatch import wake_doctor
from worker.sandbox.doctor import examine as doctor

MAX_TASK_S = 300  # after this time, an examination counts as lost
_MAX_KEPT = 10


def latest() -> Examination | None:
    """The examination that was requested last; None before the first."""
    return Examination.objects.select_related("requested_by").order_by("-pk").first()


def request_examination(actor: Actor) -> Examination:
    """Requests that a worker tests its sandbox tiers with attacks; returns the new examination.

    If an examination is in progress, returns it instead. Otherwise writes an audit entry and wakes a worker.
    Raises FORBIDDEN unless the actor is an administrator without a token.
    """
    if not actor.is_administrator or actor.token is not None:
        raise FORBIDDEN.refusal(action="test the sandbox")
    current = latest()
    if current and is_under_way(current):
        return current
    examination = Examination.objects.create(requested_by=actor.user, requested_at=timezone.now())
    audit.record(actor, "sandbox.examine", examination.uid)
    wake_doctor()
    return examination


def is_under_way(examination: Examination) -> bool:
    since = timezone.now() - timedelta(seconds=MAX_TASK_S)
    return examination.finished_at is None and examination.requested_at > since


def examine_next(worker: str) -> bool:
    """Runs the oldest waiting examination and deletes all but the latest ten.

    Returns False if none waits or another worker has it.
    """
    since = timezone.now() - timedelta(seconds=MAX_TASK_S)
    waiting = Examination.objects.filter(started_at=None, requested_at__gt=since)
    examination = claim(waiting, timezone.now(), worker=worker)
    if examination is None:
        return False
    lease = Lease(examination, examination.attempt)
    with keep_alive(lease):
        document = doctor.examine_tiers(sandbox_settings(), lambda tier, done: lease.row().update(tier=tier))
    lease.finish(document=document, tier="")
    newest = Examination.objects.order_by("-pk").values_list("pk", flat=True)[:_MAX_KEPT]
    Examination.objects.exclude(pk__in=list(newest)).delete()
    return True
