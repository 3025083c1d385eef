"""Runs related to a failed one: similar failures, the last success, and the first failure after that."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Subquery
from django.db.models.functions import Coalesce

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from worker.models import Run, RunQuerySet, RunStatus
from worker.run_views.cause import FAILED

_SHOWN = 5
_MAX_READ = 500  # number of newest failures that are compared, because their causes are JSON, not columns
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
    """The newest similar failures. ``count`` is their total number, or a minimum if ``has_more``."""

    runs: tuple[RunReference, ...] = ()
    count: int = 0
    has_more: bool = False


@reader
def similar_failures(run: Run, actor: Actor) -> Reads[SimilarFailures]:
    """Other failures of the skill with the same failure code and type of cause, newest first.

    Causes without a type are similar if their messages are equal. Considers only runs that the actor can
    read, because a match reveals content of both. Empty if ``run`` did not fail, was erased or can't be read.
    """
    readable = Run.objects.readable_by(actor)
    if run.skill_id is None or not _has_failed(run):
        return SimilarFailures()
    failures = readable.without_cases().filter(
        skill=run.skill_id, status__in=FAILED, failure_code=run.failure_code
    )
    failures = failures.filter(erased_at=None).exclude(pk=run.pk).order_by("-id")
    rows, own = failures.values_list(*_COLUMNS, "cause")[:_MAX_READ], readable.filter(pk=run.pk).values("pk")
    yield rows, own
    if not own:
        return SimilarFailures()
    wanted = _kind(run.cause, run.failure_code)
    similar = [RunReference(*row[:-1]) for row in rows if _kind(row[-1], run.failure_code) == wanted]
    return SimilarFailures(tuple(similar[:_SHOWN]), len(similar), len(rows) == _MAX_READ)


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


def _has_failed(run: Run) -> bool:
    return run.status in FAILED and run.erased_at is None


def _earlier(run: Run, actor: Actor) -> RunQuerySet:
    return Run.objects.visible_to(actor).without_cases().filter(skill=run.skill_id, pk__lt=run.pk)


def _kind(cause: Mapping[str, Any], failure_code: str) -> tuple[str, str]:
    name = cause.get("type", failure_code)
    return name, "" if name else cause.get("message", "")


def _first(runs: RunQuerySet) -> Reads[RunReference | None]:
    yield (rows := runs.values_list(*_COLUMNS)[:1])
    return next((RunReference(*row) for row in rows), None)


def _reference(run: Run) -> RunReference:
    return RunReference(run.uid, run.number, run.version_number, run.status, run.finished_at)
