"""Heartbeats: a row per worker and reaper process, which shows whether it is alive and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Now

from worker.core import clock
from worker.health.release import version
from worker.models import ProcessKind, ServiceProcess

EVERY_S = 5.0
SILENT_AFTER_S = 30.0  # then a process counts as dead
_FORGET_AFTER = timedelta(minutes=10)  # then the row of a killed process is deleted
_UPDATED = ("kind", "version", "slots", "busy", "details", "seen_at")


@dataclass(frozen=True)
class ProcessState:
    """A process as it last reported itself, ``heartbeat_s`` seconds ago."""

    name: str
    kind: str
    version: str
    slots: int
    busy: int
    started_at: datetime
    heartbeat_s: float
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        return self.heartbeat_s < SILENT_AFTER_S


def beat(
    kind: ProcessKind, name: str, *, slots: int = 0, busy: int = 0, details: Mapping[str, Any] | None = None
) -> None:
    """Records in one statement that this process is alive."""
    now: Any = Now()
    row = ServiceProcess(name=name, kind=kind, version=version(), started_at=now, seen_at=now)
    row.slots, row.busy, row.details = slots, busy, details or {}
    ServiceProcess.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["name"], update_fields=list(_UPDATED)
    )


def stop(name: str) -> None:
    """Removes the row of a process that ends normally."""
    ServiceProcess.objects.filter(name=name).delete()


def forget_silent() -> None:
    """Removes the rows of processes without a heartbeat for 10 minutes."""
    ServiceProcess.objects.filter(seen_at__lt=clock.now() - _FORGET_AFTER).delete()


def processes() -> list[ProcessState]:
    """All processes, dead ones included until they are forgotten, by kind and name."""
    now = clock.now()
    rows = ServiceProcess.objects.order_by("kind", "name")
    return [
        ProcessState(
            *(row.name, row.kind, row.version, row.slots, row.busy, row.started_at),
            heartbeat_s=max(0.0, (now - row.seen_at).total_seconds()),
            details=row.details,
        )
        for row in rows
    ]
