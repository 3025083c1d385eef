"""Who imports what, and when: asked for, claimed by one worker at a time, taken over from a dead one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Import, ImportStatus, Source
from registry.packages.problems import Problem, problem, refuse
from registry.permissions import Action, require
from registry.publishing.rows import problem_row

LEASE = timedelta(seconds=60)
ATTEMPTS = 3  # after which an import that ends its worker each time has failed
KEPT = 20  # reports of one source
RENEW_S = 20.0

_wakers: list[Callable[[], object]] = []


class Lost(Exception):
    """Another worker took the import over: this one writes nothing more."""


@dataclass(frozen=True)
class Hold:
    """The right to write one import's rows."""

    report: int  # its key
    attempt: int

    def renew(self) -> bool:
        """Asks for more time; False when the import is somebody else's by now."""
        return bool(self._held().update(lease_until=timezone.now() + LEASE))

    def check(self) -> None:
        """Within a transaction: what is written in it counts only while this worker holds the import."""
        if self._held().select_for_update().first() is None:
            raise Lost

    def finish(self, *problems: Problem) -> None:
        """Ends the import: done, or failed as a whole for these reasons."""
        self._held().update(
            status=ImportStatus.FAILED if problems else ImportStatus.DONE,
            problems=[problem_row(each) for each in problems],
            finished_at=timezone.now(),
            lease_until=None,
        )

    def _held(self) -> QuerySet[Import]:
        return Import.objects.filter(pk=self.report, attempt=self.attempt, status=ImportStatus.RUNNING)


def register_waker(wake: Callable[[], object]) -> None:
    """Names what is called when an import was asked for; called once, when the worker's app is ready."""
    if wake not in _wakers:
        _wakers.append(wake)


def request(source: Source, actor: Actor) -> Import:
    """Asks for the source to be imported; refuses while it is being imported."""
    require(actor, Action.PUBLISH, team=source.team)
    with transaction.atomic():
        report = _create(source, actor)
        audit.record(actor, "import.request", source.location, team=source.team, kind=source.kind)
        transaction.on_commit(wake)
    return report


def start(source: Source, actor: Actor) -> Hold:
    """Asks and claims at once, for who imports in this process."""
    require(actor, Action.PUBLISH, team=source.team)
    with transaction.atomic():
        report = _create(source, actor)
        audit.record(actor, "import.request", source.location, team=source.team, kind=source.kind)
        return _claimed(report, timezone.now())


def _create(source: Source, actor: Actor) -> Import:
    Source.objects.select_for_update().get(pk=source.pk)
    under_way = source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING]).first()
    if under_way:
        raise refuse("IMPORT_UNDER_WAY", id=under_way.uid)
    return Import.objects.create(source=source, requested_by=actor.user)


def wake() -> None:
    for waker in _wakers:
        waker()


def waiting(now: datetime) -> bool:
    """Whether there is anything to claim."""
    return _claimable(now).exists()


def running(now: datetime) -> int:
    """How many imports somebody works on."""
    return Import.objects.filter(status=ImportStatus.RUNNING, lease_until__gte=now).count()


def unfinished(uids: Collection[str]) -> list[str]:
    """Those of them that go on, for who waits: one that is gone has ended too."""
    return list(Import.objects.filter(uid__in=uids, finished_at=None).values_list("uid", flat=True))


def claim_next(now: datetime) -> Hold | None:
    """The oldest import that waits or whose worker is gone; one that ended its workers too often fails."""
    with transaction.atomic():
        report = _claimable(now).select_for_update(skip_locked=_skips()).order_by("pk").first()
        if report is None:
            return None
        hold = _claimed(report, now)
        if hold.attempt <= ATTEMPTS:
            return hold
        hold.finish(problem("IMPORT_ERROR", reason="its workers ended"))
    return claim_next(now)


def _claimable(now: datetime) -> QuerySet[Import]:
    lapsed = Q(status=ImportStatus.RUNNING, lease_until__lt=now)
    return Import.objects.filter(Q(status=ImportStatus.QUEUED) | lapsed)


def _skips() -> bool:
    return bool(connection.features.has_select_for_update_skip_locked)


def _claimed(report: Import, now: datetime) -> Hold:
    report.attempt += 1
    report.status = ImportStatus.RUNNING
    report.lease_until = now + LEASE
    report.started_at = report.started_at or now
    report.save(update_fields=["attempt", "status", "lease_until", "started_at"])
    return Hold(report.pk, report.attempt)


def actor_of(hold: Hold) -> Actor:
    """In whose name an import acts that was asked for elsewhere: theirs who asked, with what they may now."""
    user = Import.objects.select_related("requested_by").get(pk=hold.report).requested_by
    if user is None or not user.is_active:
        raise refuse("IMPORT_NOBODY")
    return Actor(user=user)


def request_due(now: datetime) -> Sequence[str]:
    """Asks for the imports of every source whose time has come; the ids of what was asked for."""
    asked = []
    for source in Source.objects.select_related("created_by", "team").filter(next_at__lte=now):
        with transaction.atomic():
            later = now + timedelta(seconds=source.interval_s or 0)
            mine = Source.objects.filter(pk=source.pk, next_at=source.next_at)  # of several reapers one asks
            if not mine.update(next_at=later if source.interval_s else None):
                continue
            busy = source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING])
            if not busy.exists():
                asked.append(Import.objects.create(source=source, requested_by=source.created_by).uid)
                transaction.on_commit(wake)
    return asked


def forget_old(source: Source) -> None:
    """Keeps the last reports of a source."""
    old = source.imports.order_by("-pk").values_list("pk", flat=True)[KEPT:]
    Import.objects.filter(pk__in=list(old)).delete()
