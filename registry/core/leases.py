"""Leases on jobs. Only the worker with the lease writes a job; others can claim it once the lease expires."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db import DatabaseError, close_old_connections, connection, models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

LEASE_TIME = timedelta(seconds=60)
MAX_ATTEMPTS = 3  # a job fails after this many workers have died running it
_RENEW_S = 20.0


class LeasedJob(models.Model):
    """Base class of jobs. A worker holds a job until ``lease_until``; afterwards, another worker may claim
    the job.
    """

    # each claim adds 1, so that earlier claims can't write
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, db_index=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


Job = TypeVar("Job", bound=LeasedJob)


class LeaseLost(Exception):
    """The job was finished, released or claimed by another worker. The former holder must stop writing."""


@dataclass(frozen=True)
class Lease(Generic[Job]):
    """The exclusive right to write a job's row, until the lease expires and another worker claims the job."""

    job: Job
    attempt: int

    def row(self) -> QuerySet[Job]:
        """The job's row as a queryset; empty if the lease was lost."""
        rows: QuerySet[Job] = type(self.job)._default_manager.filter(pk=self.job.pk)
        return rows.filter(attempt=self.attempt, lease_until__isnull=False)

    def renew(self) -> bool:
        return bool(self.row().update(lease_until=timezone.now() + LEASE_TIME))

    def lock(self) -> None:
        """Locks the row until the transaction ends. Raises LeaseLost if the lease was lost."""
        if self.row().select_for_update().first() is None:
            raise LeaseLost

    def finish(self, **changes: Any) -> bool:
        """Marks the job as finished and saves ``changes``; returns False if the lease was lost."""
        return bool(self.row().update(finished_at=timezone.now(), lease_until=None, **changes))

    def release(self, **changes: Any) -> None:
        """Returns the job to the queue and saves ``changes``, for a process that is stopping. The attempt
        does not count. Does nothing if the lease was lost.
        """
        self.row().update(lease_until=None, attempt=self.attempt - 1, **changes)


def expired(now: datetime) -> Q:
    """Filter for jobs whose worker did not renew the lease in time."""
    return Q(lease_until__lt=now)


def claim(rows: QuerySet[Job], now: datetime, **changes: Any) -> Job | None:
    """Claims the oldest job in ``rows`` that no other worker is claiming: counts an attempt, starts a lease
    and saves ``changes``. Returns the job, or None if there is none to claim.
    """
    skip_locked = bool(connection.features.has_select_for_update_skip_locked)
    with transaction.atomic():
        job = rows.select_for_update(skip_locked=skip_locked).order_by("pk").first()
        if job is None:
            return None
        changes = {"started_at": job.started_at or now, **changes}
        changes |= {"attempt": job.attempt + 1, "lease_until": now + LEASE_TIME}
        for name, value in changes.items():
            setattr(job, name, value)
        job.save(update_fields=[*changes])
    return job


@contextmanager
def keep_alive(lease: Lease[Any]) -> Iterator[None]:
    """Context manager that renews the lease in a thread. After a database error, tries again at the next
    renewal. Does not report a lost lease: ``lock`` and ``finish`` detect it.
    """
    stop = threading.Event()

    def renew_until_stopped() -> None:
        while not stop.wait(_RENEW_S):
            try:
                lease.renew()
            except DatabaseError:
                close_old_connections()  # a broken connection would fail every later renewal
        connection.close()

    thread = threading.Thread(target=renew_until_stopped, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
