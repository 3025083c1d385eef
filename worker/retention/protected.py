"""Selects the runs that retention never removes, regardless of their age."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from worker.models import CaseResult, Memory, MemoryWrite, Run, RunTotals, ShareLink, WriteState
from worker.queue.states import ENDED

_CACHE_MARGIN = timedelta(hours=1)  # a request that has just found the answer may still refer to the run


def protected(now: datetime) -> Q:
    """A filter for runs that must be kept: those that have not ended, are pinned, are not counted yet, or are
    referenced.

    References are answers that other runs reused or can reuse, the newest sample of an error group, and
    results of test cases. Memories of the run, proposed memories that wait for review and active share links
    are also references.
    """
    totals = RunTotals.objects.first()
    uncounted = (
        Q(is_counted=False) if totals is None else Q(is_counted=False) | Q(finished_at__gt=totals.until)
    )
    answers = Q(~Q(cache_key=""), cache_until__gt=now - _CACHE_MARGIN)
    newer = Run.objects.filter(error_key=OuterRef("error_key"), pk__gt=OuterRef("pk"))
    links = ShareLink.objects.filter(run=OuterRef("pk"), revoked_at=None, expires_at__gt=now)
    waiting = MemoryWrite.objects.filter(state=WriteState.WAITING)
    return (
        ~Q(status__in=ENDED)
        | Q(finished_at=None)
        | Q(pinned_at__isnull=False)
        | uncounted
        | answers
        | (~Q(error_key="") & Q(~Exists(newer)))
        | Q(Exists(Run.objects.filter(cached_from=OuterRef("pk"))))
        | Q(Exists(CaseResult.objects.filter(run=OuterRef("pk"))))
        | Q(Exists(Memory.objects.filter(owner_run=OuterRef("pk"))))
        | Q(Exists(links))
        | Q(Exists(waiting.filter(run=OuterRef("pk"))))
        | Q(Exists(waiting.filter(owner_run=OuterRef("pk"))))
    )
