"""The doctor in a worker: asked for by an administrator, done by whichever worker comes first, kept."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.packages.problems import refuse
from worker.dispatch import wake_doctor
from worker.models import Examination
from worker.sandbox import doctor
from worker.ways.script import site

LONGEST_S = 300  # after which one that was begun counts as lost
_KEPT = 10


def last() -> Examination | None:
    """The latest that was asked for."""
    return Examination.objects.select_related("asked_by").order_by("-pk").first()


def ask(actor: Actor) -> Examination:
    """Asks a worker to attack its own tiers; while one goes on, that is the one."""
    if not actor.is_administrator or actor.token is not None:
        raise refuse("FORBIDDEN", action="examine the sandbox")
    under_way = last()
    if under_way and is_under_way(under_way):
        return under_way
    asked = Examination.objects.create(asked_by=actor.user, asked_at=timezone.now())
    audit.record(actor, "sandbox.examine", asked.uid)
    wake_doctor()
    return asked


def is_under_way(examination: Examination) -> bool:
    since = timezone.now() - timedelta(seconds=LONGEST_S)
    return examination.finished_at is None and examination.asked_at > since


def examine_waiting(worker: str) -> bool:
    """Does the oldest that waits; False where there is none, or another worker took it."""
    since = timezone.now() - timedelta(seconds=LONGEST_S)
    waiting = Examination.objects.filter(started_at=None, asked_at__gt=since)
    key = waiting.order_by("pk").values_list("pk", flat=True).first()
    if key is None or not waiting.filter(pk=key).update(started_at=timezone.now(), worker=worker):
        return False
    mine = Examination.objects.filter(pk=key)
    document = doctor.examine(site(), lambda tier, done: _note(key, tier))
    mine.update(document=document, tier="", finished_at=timezone.now())
    kept = Examination.objects.order_by("-pk").values_list("pk", flat=True)[:_KEPT]
    Examination.objects.exclude(pk__in=list(kept)).delete()
    return True


def _note(key: int, tier: str) -> None:
    Examination.objects.filter(pk=key).update(tier=tier)
