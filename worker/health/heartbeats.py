"""Heartbeats of worker and reaper processes: one row per process, with its last heartbeat and load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.db.models.functions import Now

from worker.core import clock
from worker.core.host import host_name
from worker.health.release import version
from worker.models import ProcessKind, ServiceProcess

EVERY_S = 5.0
SILENT_AFTER_S = 30.0  # after this time without a heartbeat, a process counts as dead
_FORGET_AFTER = timedelta(minutes=10)  # after this time, the row of a dead process is deleted
_MACHINE = "machine"  # key in ``details``
_UPDATED = ("kind", "version", "slots", "busy", "details", "seen_at")


@dataclass(frozen=True)
class ProcessState:
    """The last heartbeat of a process, ``heartbeat_s`` seconds ago."""

    name: str
    kind: str
    version: str
    slots: int
    busy: int
    started_at: datetime
    heartbeat_s: float
    details: Mapping[str, Any] = field(default_factory=dict)
    has_ended: bool = False  # known only on the machine of the process

    @property
    def is_alive(self) -> bool:
        return not self.has_ended and self.heartbeat_s < SILENT_AFTER_S


def beat(
    kind: ProcessKind, name: str, *, slots: int = 0, busy: int = 0, details: Mapping[str, Any] | None = None
) -> None:
    """Records, in one statement, that the process is alive, with its slots and other details."""
    now: Any = Now()
    row = ServiceProcess(name=name, kind=kind, version=version(), started_at=now, seen_at=now)
    row.slots, row.busy, row.details = slots, busy, {**(details or {}), _MACHINE: _machine()}
    ServiceProcess.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["name"], update_fields=list(_UPDATED)
    )


def stop(name: str) -> None:
    """Removes the row of a process that ends normally."""
    ServiceProcess.objects.filter(name=name).delete()


def forget_silent() -> None:
    """Removes the rows of processes without a heartbeat for 10 minutes."""
    ServiceProcess.objects.filter(seen_at__lt=clock.now() - _FORGET_AFTER).delete()


def forget_ended() -> None:
    """Removes rows of this machine's processes that ended without removing their own row."""
    ended = [process.name for process in processes() if process.has_ended]
    ServiceProcess.objects.filter(name__in=ended).delete()


def processes() -> list[ProcessState]:
    """All processes, sorted by kind and name, including dead ones whose rows still exist."""
    now = clock.now()
    rows = ServiceProcess.objects.order_by("kind", "name")
    return [
        ProcessState(
            *(row.name, row.kind, row.version, row.slots, row.busy, row.started_at),
            heartbeat_s=max(0.0, (now - row.seen_at).total_seconds()),
            has_ended=_has_ended(row.name, machine=row.details.pop(_MACHINE, "")),
            details=row.details,
        )
        for row in rows
    ]


def _has_ended(name: str, *, machine: str) -> bool:
    host, _, pid = name.rpartition(":")
    if not machine or (host, machine) != (host_name(), _machine()):
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # the process exists but belongs to another user
    return False


@cache
def _machine() -> str:
    """Identifies the kernel and the PID namespace of this process; "" if they are unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
