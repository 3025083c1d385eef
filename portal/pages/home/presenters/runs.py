"""The runs on the home page: active ones, and the failures of the last 24 hours by skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from portal.presenters.explanations import failure_text
from portal.presenters.skill.names import skill_names
from registry.core.sql import Reads, count_rows, reader
from registry.identity.actors import Actor
from worker.models import FAILED_STATUSES, Run, RunStatus
from worker.models.run import RunQuerySet

MAX_RUNNING = 5
MAX_FAILING_SKILLS = 6
_MAX_FAILED = 500  # number of newest failed runs that are grouped
_OTHER_STATUSES = tuple(status for status in RunStatus.values if status not in FAILED_STATUSES)
_FAILURES_FOR = timedelta(hours=24)


@dataclass(frozen=True)
class FailingSkill:
    """The failures of one skill in the last 24 hours; ``run`` is the newest of them."""

    run: Run
    skill_name: str
    count: int
    readable: bool  # whether the actor can read the cause

    @property
    def cause(self) -> str:
        return failure_text(self.run) if self.readable else ""

    @property
    def is_thrown(self) -> bool:
        """Whether the cause is an error of the script, not a message of the platform."""
        return bool(self.run.cause) and self.run.cause["type"] != self.run.failure_code


@dataclass(frozen=True)
class ActiveRuns:
    """Running and queued runs with the names of their skills; ``omitted`` counts the runs beyond the
    limit.
    """

    rows: Sequence[tuple[Run, str]]
    omitted: int


@reader
def running_now(actor: Actor) -> Reads[ActiveRuns]:
    """Running runs, then queued ones, newest first, at most ``MAX_RUNNING``."""
    active = _visible(actor).filter(status__in=(RunStatus.RUNNING, RunStatus.QUEUED))
    runs, number = (
        active.select_related("caller").order_by("-status", "-pk")[:MAX_RUNNING],
        count_rows(active),
    )
    yield runs, number
    omitted = max(0, sum(number) - MAX_RUNNING)
    names = yield from skill_names.reads(runs, actor)
    return ActiveRuns([(run, names[run.pk]) for run in runs], omitted)


@reader
def failures_by_skill(actor: Actor) -> Reads[Sequence[FailingSkill]]:
    """Skills with failed runs in the last 24 hours, the most failures first. Ignores runs of test cases."""
    since = timezone.now() - _FAILURES_FOR
    # Along the index of ends. By the index of statuses, SQLite would read all failures of the site.
    runs = _visible(actor).without_cases().order_by("-finished_at", "-pk")
    newest_failed = runs.filter(finished_at__gte=since).exclude(status__in=_OTHER_STATUSES)
    yield (failed := newest_failed.values_list("pk", "skill_label")[:_MAX_FAILED])
    newest: dict[str, int] = {}
    counts = Counter[str]()
    for pk, label in failed:
        newest.setdefault(label, pk)
        counts[label] += 1
    keys = [newest[label] for label in sorted(newest, key=lambda label: -counts[label])[:MAX_FAILING_SKILLS]]
    readable = Run.objects.readable_by(actor).filter(pk__in=keys).values_list("pk", flat=True)
    yield (found := _visible(actor).filter(pk__in=keys)), readable
    shown = sorted(found, key=lambda run: keys.index(run.pk))
    names = yield from skill_names.reads(shown, actor)
    readable_keys = set(readable)
    return [
        FailingSkill(run, names[run.pk], counts[run.skill_label], run.pk in readable_keys) for run in shown
    ]


def _visible(actor: Actor) -> RunQuerySet:
    return Run.objects.visible_to(actor).without_content()
