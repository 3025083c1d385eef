"""The queue of imports. Only one worker at a time has the lease of an import; if it dies, another can claim
the import.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.core.hooks import Hook
from registry.core.leases import MAX_ATTEMPTS, Lease, claim, expired
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.imports.errors import IMPORT_CANCELLED, IMPORT_ERROR, IMPORT_UNDER_WAY, IMPORT_USER_MISSING
from registry.models import Import, ImportStatus, Source
from registry.packages.problems import Problem, gettext_noop
from registry.versions.publishing.version_rows import serialize_problem

MAX_REPORTS = 20  # stored per source

import_requested: Hook[[], object] = Hook()


class ImportLease(Lease[Import]):
    """The exclusive right to write the rows of one import."""

    def end(self, *problems: Problem) -> None:
        """Marks the import as done, or with problems as failed. Does nothing if the lease was lost."""
        self.finish(
            status=ImportStatus.FAILED if problems else ImportStatus.DONE,
            problems=[serialize_problem(each) for each in problems],
        )

    def requeue(self) -> None:
        """Puts the import back into the queue; the reaper wakes a worker for it."""
        self.release(status=ImportStatus.QUEUED)


def request_import(source: Source, actor: Actor) -> Import:
    """Queues an import of the source, and wakes the workers after the commit. Requires permission to publish
    for the team. Raises IMPORT_UNDER_WAY if an import is queued or running.
    """
    require(actor, Action.PUBLISH, team=source.team)
    with transaction.atomic():
        Source.objects.select_for_update().get(pk=source.pk)
        under_way = source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING]).first()
        if under_way:
            raise IMPORT_UNDER_WAY.refusal(id=under_way.uid)
        report = Import.objects.create(source=source, requested_by=actor.user)
        audit.record(actor, "import.request", source.location, team=source.team, kind=source.kind)
        transaction.on_commit(wake_workers)
    return report


def cancel_import(report: Import, actor: Actor) -> bool:
    """Ends the import as failed with IMPORT_CANCELLED; returns False if it had already ended. Requires
    permission to publish for the team.

    A worker that runs the import loses its lease, so it stops within seconds, or before it publishes its next
    batch.
    """
    require(actor, Action.PUBLISH, team=report.source.team)
    with transaction.atomic():
        ended = Import.objects.filter(pk=report.pk, finished_at=None).update(
            status=ImportStatus.FAILED,
            problems=[serialize_problem(IMPORT_CANCELLED.problem())],
            finished_at=timezone.now(),
            lease_until=None,
        )
        if ended:
            source = report.source
            audit.record(actor, "import.cancel", source.location, team=source.team, kind=source.kind)
    return bool(ended)


def is_cancelled(report: Import) -> bool:
    return any(problem["code"] == IMPORT_CANCELLED.name for problem in report.problems)


def start_import(source: Source, actor: Actor) -> ImportLease:
    """Creates an import and claims it for this process. Raises the errors of ``request_import``."""
    with transaction.atomic():
        report = request_import(source, actor)
        lease = _claim(Import.objects.filter(pk=report.pk), timezone.now())
    assert lease is not None, "no other process sees the import before the commit"
    return lease


def wake_workers() -> None:
    import_requested.send()


def has_claimable(now: datetime) -> bool:
    return _claimable(now).exists()


def count_running(now: datetime) -> int:
    """The number of running imports whose lease has not expired."""
    return Import.objects.filter(status=ImportStatus.RUNNING, lease_until__gte=now).count()


def filter_unfinished(uids: Collection[str]) -> list[str]:
    """Those of ``uids`` whose import exists and is not finished."""
    return list(Import.objects.filter(uid__in=uids, finished_at=None).values_list("uid", flat=True))


def claim_next(now: datetime) -> ImportLease | None:
    """Claims the oldest import that is queued or whose lease has expired; None if there is none. An import
    that MAX_ATTEMPTS workers left unfinished is marked as failed instead.
    """
    while lease := _claim(_claimable(now), now):
        if lease.attempt <= MAX_ATTEMPTS:
            return lease
        lease.end(IMPORT_ERROR.problem(reason=gettext_noop("its workers stopped unexpectedly")))
    return None


def _claimable(now: datetime) -> QuerySet[Import]:
    return Import.objects.filter(Q(status=ImportStatus.QUEUED) | expired(now))


def _claim(rows: QuerySet[Import], now: datetime) -> ImportLease | None:
    report = claim(rows, now, status=ImportStatus.RUNNING)
    return ImportLease(report, report.attempt) if report else None


def requesting_actor(lease: ImportLease) -> Actor:
    """The user who requested the import, with the permissions they have now. Raises IMPORT_USER_MISSING if
    the user was deleted or is inactive.
    """
    user = lease.job.requested_by
    if user is None or not user.is_active:
        raise IMPORT_USER_MISSING.refusal()
    return Actor(user=user)


def request_due_imports(now: datetime) -> Sequence[str]:
    """Queues an import of each due source without an unfinished import, and sets the next due time of the
    source. Sources of deactivated users and archived teams are skipped. Returns the uids of the new imports.
    """
    uids = []
    for source in Source.objects.select_related("created_by", "team").filter(
        next_at__lte=now, created_by__is_active=True, team__archived_at=None
    ):
        with transaction.atomic():
            later = now + timedelta(seconds=source.interval_s or 0)
            # Several reapers may run: the condition on next_at lets only one of them queue the import.
            due = Source.objects.filter(pk=source.pk, next_at=source.next_at)
            if not due.update(next_at=later if source.interval_s else None):
                continue
            busy = source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING])
            if not busy.exists():
                uids.append(Import.objects.create(source=source, requested_by=source.created_by).uid)
                transaction.on_commit(wake_workers)
    return uids


def delete_old_reports(source: Source) -> None:
    """Deletes all imports of the source except the newest MAX_REPORTS."""
    old = source.imports.order_by("-pk").values_list("pk", flat=True)[MAX_REPORTS:]
    Import.objects.filter(pk__in=list(old)).delete()
