"""Runs related to a failed one: similar failures, the last success, and the first failure after that."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Subquery, Sum
from django.db.models.functions import Coalesce

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from worker.models import FailureCount, Run, RunQuerySet, RunStatus
from worker.run_views.cause import FAILED

_SHOWN = 5
_LOOKED_AT = 1_000  # runs
_COLUMNS = ("uid", "number", "version_number", "status", "finished_at")


@dataclass(frozen=True)
class RunReference:
    """The data for a link to a run, without any of the run's content."""

    uid: str
    number: int
    version: str
    status: str
    finished_at: datetime | None


@dataclass(frozen=True)
class SimilarFailures:
    """Other failures of a run's error group: the newest ones and the number of all."""

    runs: tuple[RunReference, ...] = ()
    count: int = 0


@reader
def similar_failures(run: Run, actor: Actor) -> Reads[SimilarFailures]:
    """The other failures of the run's error group that the actor can see, newest first.

    With the run itself, ``count`` is the number of failures on the group's page, which includes runs that
    retention removed. Empty if the run belongs to no group or the actor can't see it.
    """
    if not run.error_key:
        return SimilarFailures()
    visible = Run.objects.visible_to(actor).filter(error_key=run.error_key)
    rows = visible.exclude(pk=run.pk).order_by("-id").values_list(*_COLUMNS)[:_SHOWN]
    own = visible.filter(pk=run.pk).values("pk")
    counts = FailureCount.objects.visible_to(actor).filter(group__key=run.error_key)
    yield rows, own, (totals := counts.values("group").annotate(n=Sum("count")).values_list("n", flat=True))
    if not own:
        return SimilarFailures()
    return SimilarFailures(tuple(RunReference(*row) for row in rows), max(sum(totals) - 1, 0))


@reader
def last_success(run: Run, actor: Actor) -> Reads[RunReference | None]:
    """The last succeeded run of the skill before ``run`` that the actor can see; None if there is none."""
    if run.skill_id is None:
        return None
    return (yield from _first(_earlier(run, actor).filter(status=RunStatus.SUCCEEDED).order_by("-id")))


@reader
def first_failure_since_success(run: Run, actor: Actor) -> Reads[RunReference | None]:
    """The skill's first failed run since the last success before ``run``; this can be ``run`` itself.

    None if ``run`` did not fail or was erased. Considers only runs that the actor can see.
    """
    if run.skill_id is None or not _has_failed(run):
        return None
    earlier = _earlier(run, actor)
    success = earlier.filter(status=RunStatus.SUCCEEDED).order_by("-id").values("pk")[:1]
    failures = earlier.filter(status__in=FAILED, pk__gt=Coalesce(Subquery(success), 0)).order_by("id")
    return (yield from _first(failures)) or _reference(run)


@reader
def is_first_of_version(found: RunReference, run: Run, actor: Actor) -> Reads[bool]:
    """Whether no run of the same version succeeded or failed before ``found``, an earlier run of the skill of
    ``run`` or ``run`` itself. Considers the last ``_LOOKED_AT`` runs of the skill that the actor can see.
    """
    own = Run.objects.filter(uid=found.uid).values("pk")[:1]
    newest = _earlier(run, actor).filter(pk__lt=Subquery(own)).order_by("-id").values("pk")[:_LOOKED_AT]
    ended = Run.objects.filter(pk__in=newest, status__in=(RunStatus.SUCCEEDED, *FAILED))
    yield (same := ended.filter(version_number=found.version).values("pk")[:1])
    return not same


def _has_failed(run: Run) -> bool:
    return run.status in FAILED and run.erased_at is None


def _earlier(run: Run, actor: Actor) -> RunQuerySet:
    return Run.objects.visible_to(actor).without_cases().filter(skill=run.skill_id, pk__lt=run.pk)


def _first(runs: RunQuerySet) -> Reads[RunReference | None]:
    yield (rows := runs.values_list(*_COLUMNS)[:1])
    return next((RunReference(*row) for row in rows), None)


def _reference(run: Run) -> RunReference:
    return RunReference(run.uid, run.number, run.version_number, run.status, run.finished_at)
