"""Figures of the queue and the processes, read from the database in a few indexed statements."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone

from worker.health.heartbeats import ProcessState, processes
from worker.models import Approval, ProcessKind, Run, RunStatus
from worker.queue import fair_queue


@dataclass(frozen=True)
class QueueState:
    runnable: int
    oldest_s: float | None  # waiting time of the oldest runnable run
    oldest_claimable_s: float | None  # excludes runs of teams that have reached their limit
    running: int
    waiting_approval: int


@dataclass(frozen=True)
class SiteFigures:
    database: str  # name and version of the database server
    latency_ms: float  # time to connect and read a row
    queue: QueueState
    processes: Sequence[ProcessState]

    @property
    def workers(self) -> list[ProcessState]:
        return [each for each in self.processes if each.kind == ProcessKind.WORKER]

    @property
    def live_workers(self) -> list[ProcessState]:
        return [each for each in self.workers if each.is_alive]

    @property
    def reaper_age_s(self) -> float | None:
        """Seconds since the last heartbeat of any reaper; None if no reaper is known."""
        return min((p.heartbeat_s for p in self.processes if p.kind == ProcessKind.REAPER), default=None)


def read_figures() -> SiteFigures:
    """Reads all figures; raises DatabaseError if the database does not answer."""
    began = time.perf_counter()
    known = processes()
    latency_ms = (time.perf_counter() - began) * 1000
    number = ".".join(map(str, connection.get_database_version()))
    return SiteFigures(f"{connection.display_name} {number}", latency_ms, _queue(), known)


def _queue() -> QueueState:
    now = timezone.now()
    runnable = Run.objects.filter(status=RunStatus.QUEUED, run_after__lte=now)
    waiting = runnable.aggregate(runs=Count("pk"), since=Min("run_after"))
    claimable = fair_queue.claimable_runs(now).aggregate(since=Min("run_after")) if waiting["runs"] else {}
    return QueueState(
        runnable=waiting["runs"],
        oldest_s=_age(waiting["since"], now),
        oldest_claimable_s=_age(claimable.get("since"), now),
        running=Run.objects.filter(status=RunStatus.RUNNING).count(),
        # This form uses an index.
        waiting_approval=Approval.objects.waiting().filter(expires_at__gt=now).count(),
    )


def _age(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (now - since).total_seconds())
