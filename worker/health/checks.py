"""The checks of a site's readiness. Each has a time limit, even if its service hangs."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWaiting
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from django.conf import settings

from registry.models import Version
from registry.packages.problems import LazyMessage
from registry.packages.problems import gettext_noop as _
from registry.storage import blobs
from worker.health.bounded_call import BoundedCall
from worker.health.figures import SiteFigures, read_figures
from worker.queue import transport
from worker.sandbox.limits import free_space

TIMEOUT_S = 2.0  # time limit of all checks together
# Without a heartbeat for this time, the reaper counts as dead; a sweep is usually shorter.
REAPER_SILENT_S = 120.0
QUEUE_STUCK_S = 60.0  # a run may wait this long while a slot is free
NAMES = ("database", "storage", "broker", "disk", "reaper", "workers", "queue")


@dataclass(frozen=True)
class HealthCheck:
    """The result of one check. ``detail`` is public; ``cause`` is for operators, as it may name hosts."""

    name: str
    ok: bool
    detail: LazyMessage
    cause: str = ""


@dataclass(frozen=True)
class DiskSpace:
    """Bytes on the disk of SKILLQUAY_VAR."""

    free: int
    total: int

    @property
    def is_low(self) -> bool:
        return self.free < free_space.floor(self.total, settings.SKILLQUAY_MIN_FREE_MB << 20)


@dataclass(frozen=True)
class SiteState:
    checks: Sequence[HealthCheck]
    figures: SiteFigures | None = None  # None if the database does not answer
    disk: DiskSpace | None = None

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


class ServiceFailed(Exception):
    """Raised if a service can't be reached or used; the text is its address or folder, for operators only."""


def read_state() -> SiteState:
    """Runs all checks concurrently; returns within about ``TIMEOUT_S``, even if services hang."""
    deadline = time.monotonic() + TIMEOUT_S
    started = {name: call.start() for name, call in _CALLS.items()}
    results = {name: _result(name, future, deadline) for name, future in started.items()}
    figures, disk = results["database"].value, results["disk"].value
    checks = [
        _database_check(results["database"]),
        _latency_check("storage", results["storage"]),
        _latency_check("broker", results["broker"]),
        _disk_check(results["disk"]),
        *_figure_checks(figures),
    ]
    return SiteState(checks, figures, disk)


@dataclass(frozen=True)
class _Result:
    value: Any = None
    failed: HealthCheck | None = None
    took_ms: float = field(default=0.0)


def _result(name: str, future: Future[Any], deadline: float) -> _Result:
    try:
        value, took_ms = future.result(max(0.0, deadline - time.monotonic()))
    except StillWaiting:
        waited = round(_CALLS[name].hangs_since_s())
        detail = LazyMessage(_("no answer for %(seconds)s s"), seconds=waited)
        return _Result(failed=HealthCheck(name, False, detail))
    except Exception as error:  # a service may raise any exception
        detail = LazyMessage(_("failed: %(error)s"), error=type(error).__name__)
        return _Result(failed=HealthCheck(name, False, detail, cause=str(error).strip()))
    return _Result(value, took_ms=took_ms)


def _latency_check(name: str, result: _Result) -> HealthCheck:
    detail = LazyMessage(_("answered in %(ms)s ms"), ms=round(result.took_ms, 1))
    return result.failed or HealthCheck(name, True, detail)


def _database_check(result: _Result) -> HealthCheck:
    if result.failed:
        return result.failed
    figures: SiteFigures = result.value
    detail = LazyMessage(_("answered in %(ms)s ms"), ms=round(figures.latency_ms, 1))
    return HealthCheck("database", True, detail)


def _disk_check(result: _Result) -> HealthCheck:
    if result.failed:
        return result.failed
    disk: DiskSpace = result.value
    free, total = (round(count / 1e9, 1) for count in (disk.free, disk.total))
    detail = LazyMessage(_("%(free)s of %(total)s GB free"), free=free, total=total)
    return HealthCheck("disk", not disk.is_low, detail)


def _figure_checks(figures: SiteFigures | None) -> list[HealthCheck]:
    if figures is None:
        unknown = LazyMessage(_("unknown: the database does not respond"))
        return [HealthCheck(name, False, unknown) for name in ("reaper", "workers", "queue")]
    return [_reaper_check(figures), _workers_check(figures), _queue_check(figures)]


def _reaper_check(figures: SiteFigures) -> HealthCheck:
    age = figures.reaper_age_s
    if age is None:
        return HealthCheck(
            "reaper",
            False,
            LazyMessage(
                _(
                    "the reaper process, which starts scheduled runs and deletes old data, has not run in "
                    "the last few minutes"
                )
            ),
        )
    detail = LazyMessage(_("last ran %(seconds)s s ago"), seconds=round(age))
    return HealthCheck("reaper", age < REAPER_SILENT_S, detail)


def _workers_check(figures: SiteFigures) -> HealthCheck:
    alive = figures.live_workers
    slots, busy = sum(worker.slots for worker in alive), sum(worker.busy for worker in alive)
    detail = LazyMessage(
        _("%(alive)s online, %(busy)s of %(slots)s run slots in use"),
        alive=len(alive),
        busy=busy,
        slots=slots,
    )
    return HealthCheck("workers", slots > 0, detail)


def _queue_check(figures: SiteFigures) -> HealthCheck:
    """Fails if a claimable run waits over ``QUEUE_STUCK_S`` while a slot is free or no worker is alive."""
    queue = figures.queue
    has_free_slot = any(worker.busy < worker.slots for worker in figures.live_workers)
    is_stuck = (queue.oldest_claimable_s or 0.0) > QUEUE_STUCK_S
    if queue.oldest_s is None:
        return HealthCheck("queue", True, LazyMessage(_("no runs are waiting")))
    detail = LazyMessage(
        _("waiting runs: %(runs)s, the oldest for %(seconds)s s"),
        runs=queue.runnable,
        seconds=round(queue.oldest_s),
    )
    return HealthCheck("queue", not is_stuck or not (has_free_slot or not figures.live_workers), detail)


# The calls of the checks -------------------------------------------------------------------------------
def _check_storage() -> None:
    """Raises ServiceFailed if the storage can't be reached; passes while the site has no version."""
    if not blobs.is_reachable() and Version.objects.exists():
        raise ServiceFailed(settings.STORAGE_URL or f"{settings.SKILLQUAY_VAR}/blobs")


def _check_broker() -> None:
    if not settings.REDIS_URL:
        folder = transport.folders(Path(settings.SKILLQUAY_VAR))["data_folder_in"]
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise ServiceFailed(folder)
        return
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=TIMEOUT_S, socket_timeout=TIMEOUT_S
    ) as client:
        # Instead of a ping, which even a full or read-only server answers.
        client.set("skillquay:check", "1", ex=60)


def _disk_space() -> DiskSpace:
    usage = shutil.disk_usage(settings.SKILLQUAY_VAR)
    return DiskSpace(usage.free, usage.total)


def _timed(work: Callable[[], Any]) -> Callable[[], tuple[Any, float]]:
    def measure() -> tuple[Any, float]:
        began = time.perf_counter()
        value = work()
        return value, (time.perf_counter() - began) * 1000

    return measure


_CALLS: dict[str, BoundedCall[tuple[Any, float]]] = {
    "database": BoundedCall(_timed(read_figures)),
    "storage": BoundedCall(_timed(_check_storage)),
    "broker": BoundedCall(_timed(_check_broker)),
    "disk": BoundedCall(_timed(_disk_space)),
}
