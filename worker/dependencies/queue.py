"""Which preparation is made by whom: asked for, claimed by one worker at a time, taken from a dead one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry.models import Version
from registry.packages.problems import Problem, Refused, problem
from registry.publishing.rows import problem_row
from worker import states
from worker.dependencies.needs import Need, deno_platform, node_platform, python_platform
from worker.dispatch import wake, wake_preparer
from worker.models import Preparation, PreparationQuerySet, PreparationState

LEASE = timedelta(seconds=60)
ATTEMPTS = 3  # after which one that ends its worker each time has failed
RENEW_S = 20.0
_LOOK_S = 1.0
_LOG = 65_536  # characters that are kept, the last ones


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    hash: str


@dataclass(frozen=True)
class Made:
    """What came of a preparation: its lock, and the archive that each machine unpacks."""

    lock: str
    packages: tuple[Package, ...]
    digest: str
    size: int
    log: str = ""


@dataclass(frozen=True)
class Hold:
    """The right to write one preparation's row."""

    row: Preparation
    attempt: int
    said: list[str] = field(default_factory=list)
    looked: list[float] = field(default_factory=lambda: [0.0])

    def renew(self) -> bool:
        return bool(self._held().update(lease_until=timezone.now() + LEASE))

    def is_held(self) -> bool:
        """Asked for often while the installer runs: looks once in a while."""
        now = time.monotonic()
        if now - self.looked[0] > _LOOK_S:
            self.looked[0] = now
            return self._held().exists()
        return True

    def release(self) -> None:
        """Lets another make it: who made it was stopped."""
        self._held().update(state=PreparationState.WAITING, lease_until=None, attempt=self.attempt - 1)
        wake_preparer()

    def say(self, text: str) -> None:
        """What the installer says, for who watches the page."""
        self.said.append(text)
        self._held().update(log="".join(self.said)[-_LOG:])

    def succeed(self, made: Made) -> bool:
        """Ends it; runs that wait for it are runnable at once. False when it is another's by now."""
        now = timezone.now()
        done = self._held().update(
            state=PreparationState.READY,
            lock=made.lock,
            packages=[vars(each) for each in made.packages],
            digest=made.digest,
            size=made.size,
            problem=None,
            finished_at=now,
            last_used_at=now,
            lease_until=None,
        )
        return self._tell() if done else False

    def fail(self, why: Problem) -> bool:
        done = self._held().update(
            state=PreparationState.FAILED,
            problem=problem_row(why),
            finished_at=timezone.now(),
            lease_until=None,
        )
        return self._tell() if done else False

    def _tell(self) -> bool:
        digests = Version.objects.filter(preparations=self.row).values_list("digest", flat=True)
        if states.hurry(set(digests)):
            wake()
        return True

    def _held(self) -> PreparationQuerySet:
        mine = Preparation.objects.filter(pk=self.row.pk, attempt=self.attempt)
        return mine.filter(state=PreparationState.RUNNING)


def ask(version: Version, need: Need) -> Preparation:
    """The preparation of what this version needs; made by a worker where it is not made yet."""
    row, _created = Preparation.objects.get_or_create(
        key=need.key, defaults={"kind": need.kind, "platform": need.platform, "asked": need.asked}
    )
    if not row.versions.filter(pk=version.pk).exists():
        row.versions.add(version)
    if row.state == PreparationState.WAITING:
        transaction.on_commit(wake_preparer)
    return row


def made_like(row: Preparation, wants: str) -> Made | None:
    """What was made for another version that wants the very same, by the first line of its lock."""
    others = Preparation.objects.filter(kind=row.kind, platform=row.platform, state=PreparationState.READY)
    like = others.exclude(pk=row.pk).filter(lock__startswith=f"{wants}\n").exclude(digest="").first()
    if like is None:
        return None
    return Made(like.lock, tuple(Package(**each) for each in like.packages), like.digest, like.size)


def ask_again(row: Preparation) -> bool:
    """Lets one that failed, or whose archive is gone, be made anew; False while it goes on or is ready."""
    again = Preparation.objects.filter(pk=row.pk, state=PreparationState.FAILED)
    done = again.update(state=PreparationState.WAITING, problem=None, log="", attempt=0, finished_at=None)
    if done:
        transaction.on_commit(wake_preparer)
    return bool(done)


def forget_archive(row: Preparation) -> None:
    """What was made is no longer stored: it is made again, from the lock that was kept."""
    gone = Preparation.objects.filter(pk=row.pk, state=PreparationState.READY, digest=row.digest)
    gone.update(state=PreparationState.WAITING, digest="", size=0, attempt=0)


def claim_next(now: datetime) -> Hold | None:
    """The oldest that waits, or whose worker is gone, and fits this machine."""
    here = _waiting_here(now)
    for key in here.order_by("pk").values_list("key", flat=True)[:20]:
        if hold := claim(key, now):
            return hold
    return None


def claim(key: str, now: datetime) -> Hold | None:
    """This one, where nobody else has it; one that ended its workers too often fails."""
    with transaction.atomic():
        row = _claimable(now).select_for_update().filter(key=key).first()
        if row is None:
            return None
        row.attempt += 1
        row.state = PreparationState.RUNNING
        row.lease_until, row.started_at, row.log = now + LEASE, now, ""
        row.save(update_fields=["attempt", "state", "lease_until", "started_at", "log"])
    hold = Hold(row, row.attempt)
    if hold.attempt > ATTEMPTS:
        hold.fail(problem("DEPENDENCIES_FAILED", reason="its workers ended"))
        return None
    return hold


def is_missed() -> bool:
    """Whether one waits that this machine could make."""
    return _waiting_here(timezone.now()).exists() and has_room()


def has_room() -> bool:
    """One slot of a host's is always left to runs, unless it has only one."""
    busy = Preparation.objects.filter(state=PreparationState.RUNNING, lease_until__gte=timezone.now())
    return busy.count() < max(1, settings.SKILLQUAY_WORKERS - 1)


def _waiting_here(now: datetime) -> PreparationQuerySet:
    """What nobody uses waits for a run; the rest for any worker whose machine it is made for."""
    machine = [python_platform(), node_platform(), deno_platform()]
    here = _claimable(now).filter(platform__in=machine)
    return here.exclude(state=PreparationState.UNUSED)


def _claimable(now: datetime) -> PreparationQuerySet:
    lapsed = Q(state=PreparationState.RUNNING, lease_until__lt=now)
    waiting = Q(state=PreparationState.WAITING) | Q(state=PreparationState.UNUSED)
    found: PreparationQuerySet = Preparation.objects.filter(waiting | lapsed)
    return found


def problem_of(row: Preparation) -> Problem:
    """Why one failed."""
    return Problem(**row.problem) if row.problem else problem("PREPARING")


def refusal_of(row: Preparation) -> Refused:
    return Refused(problem_of(row))
