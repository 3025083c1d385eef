"""The queue of dependency builds: each is claimed by one worker at a time, with a lease."""

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry.core import leases
from registry.core.leases import MAX_ATTEMPTS, Lease
from registry.models import Version
from registry.packages.problems import Problem, Refusal
from registry.versions.publishing.version_rows import serialize_problem
from worker.dependencies.errors import DEPENDENCIES_CANCELLED, DEPENDENCIES_FAILED, PREPARING
from worker.dependencies.needs import Need, deno_platform, node_platform, python_platform
from worker.models import DependencyBuild, DependencyBuildQuerySet, DependencyBuildState
from worker.queue import retries
from worker.queue.dispatch import wake, wake_builder

UNDER_WAY = (DependencyBuildState.WAITING, DependencyBuildState.RUNNING)
_CHECK_INTERVAL_S = 1.0
_MAX_LOG = 65_536  # characters; the log keeps the last ones


@dataclass(frozen=True)
class InstalledPackage:
    name: str
    version: str
    hash: str


@dataclass(frozen=True)
class BuildResult:
    """The result of a build: its lock, and the archive that each machine unpacks.

    ``digest`` and ``size`` (bytes) describe the archive.
    """

    lock: str
    packages: tuple[InstalledPackage, ...]
    digest: str
    size: int
    log: str = ""


@dataclass(frozen=True)
class BuildLease(Lease[DependencyBuild]):
    """The exclusive right to write one build's row."""

    log_parts: list[str] = field(default_factory=list)
    checked_at: list[float] = field(default_factory=lambda: [0.0])

    def is_held(self) -> bool:
        """Whether the lease is still valid. Queries the database at most once per second, and returns True in
        between.
        """
        now = time.monotonic()
        if now - self.checked_at[0] > _CHECK_INTERVAL_S:
            self.checked_at[0] = now
            return self.row().exists()
        return True

    def requeue(self) -> None:
        """Puts a stopped build back into the queue and wakes a worker for it; the attempt does not count."""
        self.release(state=DependencyBuildState.WAITING)
        wake_builder()

    def append_log(self, text: str) -> None:
        """Appends installer output to the stored log, which the page shows during the build. Keeps the last
        ``_MAX_LOG`` characters.
        """
        self.log_parts.append(text)
        self.row().update(log="".join(self.log_parts)[-_MAX_LOG:])

    def succeed(self, result: BuildResult) -> bool:
        """Ends the build and wakes the runs that wait for it; returns False if the lease was lost."""
        return self._end(
            state=DependencyBuildState.READY,
            lock=result.lock,
            packages=[vars(each) for each in result.packages],
            digest=result.digest,
            size=result.size,
            problem=None,
            last_used_at=timezone.now(),
        )

    def fail(self, why: Problem) -> bool:
        return self._end(state=DependencyBuildState.FAILED, problem=serialize_problem(why))

    def _end(self, **changes: Any) -> bool:
        if not self.finish(**changes):
            return False
        _continue_runs(self.job)
        return True


def _continue_runs(row: DependencyBuild) -> None:
    """Wakes the runs that wait for the build, after the transaction commits."""
    digests = Version.objects.filter(dependency_builds=row).values_list("digest", flat=True)
    if retries.make_runnable(set(digests)):
        transaction.on_commit(wake)


def enqueue(version: Version, need: Need) -> DependencyBuild:
    """Returns the build for a need, and links it to the version; creates the build if it does not exist.

    A cancelled build starts again for a new version. If the build is waiting, wakes a worker after the
    transaction commits.
    """
    row = find_or_create(need)
    if not row.versions.filter(pk=version.pk).exists():
        row.versions.add(version)
        if problem_of(row).code == DEPENDENCIES_CANCELLED.name and retry(row):
            row.refresh_from_db()
    if row.state == DependencyBuildState.WAITING:
        transaction.on_commit(wake_builder)
    return row


def find_or_create(need: Need) -> DependencyBuild:
    """The build for a need; creates it in the queue if it does not exist. Links no version to it."""
    row, _created = DependencyBuild.objects.get_or_create(
        key=need.key, defaults={"kind": need.kind, "platform": need.platform, "spec": need.spec}
    )
    return row


def find_identical_build(row: DependencyBuild, wants: str) -> BuildResult | None:
    """The result of another ready build of the same kind and platform with the input hash ``wants``, or None.

    The first line of a build's lock is its input hash.
    """
    others = DependencyBuild.objects.filter(
        kind=row.kind, platform=row.platform, state=DependencyBuildState.READY
    )
    identical = others.exclude(pk=row.pk).filter(lock__startswith=f"{wants}\n").exclude(digest="").first()
    if identical is None:
        return None
    return BuildResult(
        identical.lock,
        tuple(InstalledPackage(**each) for each in identical.packages),
        identical.digest,
        identical.size,
    )


def retry(row: DependencyBuild) -> bool:
    """Requeues a failed build and wakes a worker on commit; returns False if the build has not failed."""
    again = DependencyBuild.objects.filter(pk=row.pk, state=DependencyBuildState.FAILED)
    done = again.update(state=DependencyBuildState.WAITING, problem=None, log="", attempt=0, finished_at=None)
    if done:
        transaction.on_commit(wake_builder)
    return bool(done)


def cancel(row: DependencyBuild) -> bool:
    """Ends a waiting or running build as failed with DEPENDENCIES_CANCELLED; returns False if it has ended.

    The worker that runs the build loses its lease, so it stops within seconds.
    """
    under_way = DependencyBuild.objects.filter(pk=row.pk, state__in=UNDER_WAY)
    problem = serialize_problem(DEPENDENCIES_CANCELLED.problem())
    ended = {"state": DependencyBuildState.FAILED, "problem": problem, "finished_at": timezone.now()}
    if not under_way.update(**ended, lease_until=None):
        return False
    _continue_runs(row)
    return True


def requeue_missing_archive(row: DependencyBuild) -> None:
    """Requeues a build whose archive is no longer stored; keeps its lock, to install the same packages."""
    ready = DependencyBuild.objects.filter(pk=row.pk, state=DependencyBuildState.READY, digest=row.digest)
    ready.update(state=DependencyBuildState.WAITING, digest="", size=0, attempt=0)


def claim_next(now: datetime) -> BuildLease | None:
    """Claims the oldest of this machine's claimable builds; None if there is none. Tries up to 20 builds."""
    here = _claimable_here(now)
    for key in here.order_by("pk").values_list("key", flat=True)[:20]:
        if lease := claim(key, now):
            return lease
    return None


def claim(key: str, now: datetime) -> BuildLease | None:
    """Claims the build with this key; None if another worker has it, or if it is ready or failed.

    A build that has lost MAX_ATTEMPTS workers fails instead, which also returns None.
    """
    rows = _claimable(now).filter(key=key)
    row = leases.claim(rows, now, state=DependencyBuildState.RUNNING, started_at=now, log="")
    if row is None:
        return None
    lease = BuildLease(row, row.attempt)
    if lease.attempt > MAX_ATTEMPTS:
        lease.fail(DEPENDENCIES_FAILED.problem(reason="the workers that ran the build stopped"))
        return None
    return lease


def has_claimable() -> bool:
    """Whether there is a free slot, and a build that this machine can claim."""
    return _claimable_here(timezone.now()).exists() and has_free_slot()


def has_free_slot() -> bool:
    """Whether another build may start on this site.

    The site runs at most SKILLQUAY_WORKERS - 1 builds at a time, but always at least one.
    """
    busy = DependencyBuild.objects.filter(state=DependencyBuildState.RUNNING, lease_until__gte=timezone.now())
    return busy.count() < max(1, settings.SKILLQUAY_WORKERS - 1)


def _claimable_here(now: datetime) -> DependencyBuildQuerySet:
    """Claimable builds for this machine. Omits UNUSED ones, which wait until a run needs them."""
    machine = [python_platform(), node_platform(), deno_platform()]
    here = _claimable(now).filter(platform__in=machine)
    return here.exclude(state=DependencyBuildState.UNUSED)


def _claimable(now: datetime) -> DependencyBuildQuerySet:
    waiting = Q(state__in=[DependencyBuildState.WAITING, DependencyBuildState.UNUSED])
    found: DependencyBuildQuerySet = DependencyBuild.objects.filter(waiting | leases.expired(now))
    return found


def problem_of(row: DependencyBuild) -> Problem:
    """The problem of a failed build; PREPARING for any other build."""
    return Problem(**row.problem) if row.problem else PREPARING.problem()


def refusal_of(row: DependencyBuild) -> Refusal:
    return Refusal(problem_of(row))
