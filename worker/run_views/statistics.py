"""Statistics of a skill's runs by version and by day."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Skill
from registry.packages.version_numbers import precedence
from registry.usage.scores import HISTORY_DAYS
from worker.models import Run, RunStatus
from worker.queue.states import ENDED

MAX_RUNS = 5000  # the newest ones are counted


@dataclass(frozen=True)
class VersionStatistics:
    """The ended runs of one version; durations exclude runs that were answered from the cache."""

    version: str
    runs: int
    succeeded: int
    p50_ms: float | None
    p95_ms: float | None
    codes: tuple[tuple[str, int], ...]  # failure codes, most frequent first

    @property
    def percent(self) -> float:
        return 100 * self.succeeded / self.runs


@dataclass(frozen=True)
class RunDay:
    """The ended runs that were requested on one day (UTC)."""

    day: date
    succeeded: int
    failed: int


@dataclass(frozen=True)
class _EndedRun:
    version: str
    status: str
    code: str
    day: date
    ms: float | None


@dataclass(frozen=True)
class SkillStatistics:
    versions: tuple[VersionStatistics, ...]  # the highest first
    days: tuple[RunDay, ...]  # every day, the oldest first


def skill_statistics(skill: Skill, actor: Actor, *, now: datetime | None = None) -> SkillStatistics:
    """Statistics of the newest ``MAX_RUNS`` ended runs of the last 90 days that are visible to the actor."""
    today = (now or timezone.now()).date()
    first = today - timedelta(days=HISTORY_DAYS - 1)
    ended = _load_ended_runs(skill, actor, first)
    versions: defaultdict[str, list[_EndedRun]] = defaultdict(list)
    for each in ended:
        versions[each.version].append(each)
    highest = sorted(versions, key=precedence, reverse=True)
    days = Counter((each.day, each.status == RunStatus.SUCCEEDED) for each in ended)
    every = (first + timedelta(days=n) for n in range(HISTORY_DAYS))
    return SkillStatistics(
        tuple(_version_statistics(number, versions[number]) for number in highest),
        tuple(RunDay(day, days[day, True], days[day, False]) for day in every),
    )


def runs_by_version(skill: Skill, actor: Actor) -> Counter[str]:
    """How many of the newest ``MAX_RUNS`` runs that are visible to the actor used each version."""
    runs = Run.objects.visible_to(actor).filter(skill=skill).order_by("-id")
    return Counter(runs.values_list("version_number", flat=True)[:MAX_RUNS])


def _load_ended_runs(skill: Skill, actor: Actor, first: date) -> list[_EndedRun]:
    runs = Run.objects.visible_to(actor).filter(skill=skill, status__in=ENDED, created_at__date__gte=first)
    rows = runs.order_by("-id").values_list(
        "version_number", "status", "failure_code", "created_at", "started_at", "finished_at", "cached_from"
    )
    return [
        _EndedRun(
            version,
            status,
            code,
            created.date(),
            (finished - started) / timedelta(milliseconds=1)
            if started and finished and cached is None
            else None,
        )
        for version, status, code, created, started, finished, cached in rows[:MAX_RUNS]
    ]


def _version_statistics(version: str, ended: Sequence[_EndedRun]) -> VersionStatistics:
    times = sorted(each.ms for each in ended if each.ms is not None)
    return VersionStatistics(
        version,
        len(ended),
        sum(each.status == RunStatus.SUCCEEDED for each in ended),
        _percentile(times, 0.5),
        _percentile(times, 0.95),
        tuple(Counter(each.code for each in ended if each.code).most_common()),
    )


def _percentile(times: Sequence[float], part: float) -> float | None:
    """The percentile by nearest rank, so always one of the sorted ``times``; None without times."""
    return times[max(-(-len(times) * int(part * 100) // 100) - 1, 0)] if times else None
