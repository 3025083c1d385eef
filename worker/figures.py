"""How a skill's runs went, version by version and day by day."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone

from registry.actors import Actor
from registry.models import Skill
from registry.packages.versions import precedence
from registry.usage import SHOWN_DAYS
from worker.models import Run, Status
from worker.states import ENDED

MOST_RUNS = 5000  # the newest ones that figures are made of


@dataclass(frozen=True)
class Figures:
    """The ended runs of one version; times are of those that were started, not answered from the cache."""

    version: str
    runs: int
    succeeded: int
    p50_ms: float | None
    p95_ms: float | None
    codes: tuple[tuple[str, int], ...]  # failure codes, the commonest first

    @property
    def percent(self) -> float:
        return 100 * self.succeeded / self.runs


@dataclass(frozen=True)
class RunDay:
    """How the runs that were asked for on one day ended."""

    day: date
    succeeded: int
    failed: int


@dataclass(frozen=True)
class _Ended:
    version: str
    status: str
    code: str
    day: date
    ms: float | None


@dataclass(frozen=True)
class SkillFigures:
    versions: tuple[Figures, ...]  # the highest first
    days: tuple[RunDay, ...]  # every day, the oldest first


def figures(skill: Skill, actor: Actor, *, now: datetime | None = None) -> SkillFigures:
    """Of the runs that the actor may know of, those of the last 90 days."""
    today = (now or timezone.now()).date()
    first = today - timedelta(days=SHOWN_DAYS - 1)
    ended = _ended(skill, actor, first)
    versions: defaultdict[str, list[_Ended]] = defaultdict(list)
    for each in ended:
        versions[each.version].append(each)
    highest = sorted(versions, key=precedence, reverse=True)
    days = Counter((each.day, each.status == Status.SUCCEEDED) for each in ended)
    every = (first + timedelta(days=n) for n in range(SHOWN_DAYS))
    return SkillFigures(
        tuple(_figures(number, versions[number]) for number in highest),
        tuple(RunDay(day, days[day, True], days[day, False]) for day in every),
    )


def _ended(skill: Skill, actor: Actor, first: date) -> list[_Ended]:
    runs = Run.objects.visible_to(actor).filter(skill=skill, status__in=ENDED, created_at__date__gte=first)
    rows = runs.order_by("-id").values_list(
        "version_number", "status", "failure_code", "created_at", "started_at", "finished_at", "cached_from"
    )
    return [
        _Ended(
            version,
            status,
            code,
            created.date(),
            (finished - started) / timedelta(milliseconds=1)
            if started and finished and cached is None
            else None,
        )
        for version, status, code, created, started, finished, cached in rows[:MOST_RUNS]
    ]


def _figures(version: str, ended: Sequence[_Ended]) -> Figures:
    times = sorted(each.ms for each in ended if each.ms is not None)
    return Figures(
        version,
        len(ended),
        sum(each.status == Status.SUCCEEDED for each in ended),
        _at(times, 0.5),
        _at(times, 0.95),
        tuple(Counter(each.code for each in ended if each.code).most_common()),
    )


def _at(times: Sequence[float], part: float) -> float | None:
    """The nearest rank: a time that a run took."""
    return times[max(-(-len(times) * int(part * 100) // 100) - 1, 0)] if times else None
