"""Statistics of a skill's runs by version and by day, from the counts per day and runs not yet counted.

The counts per day stay when retention removes the runs, so the statistics do not change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from django.utils import timezone

from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.models import Skill, Version
from registry.packages.version_numbers import precedence
from registry.usage.scores import HISTORY_DAYS
from worker.daily_runs.roll_up import figures_of
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import DailyRuns, Run
from worker.queue.states import ENDED
from worker.run_views.regression import MIN_SAMPLE, is_worse

MAX_RUNS = 5000  # limit of runs not yet counted per day; the newest are read


@dataclass(frozen=True)
class RunDay:
    """The ended runs that were requested on one day (UTC), and their durations in milliseconds."""

    day: date
    counts: RunCounts
    durations: Counter[float]


@dataclass(frozen=True)
class VersionStatistics:
    """The ended runs of one version; durations exclude runs that were answered from the cache.

    Durations have three significant digits. CPU time and memory are 0 if unknown.
    """

    version: str
    counts: RunCounts
    p50_ms: float | None
    p95_ms: float | None
    peak_cpu_ms: int  # of one run
    peak_memory: int  # bytes, of one process
    codes: tuple[tuple[str, int], ...]  # failure codes, the most frequent first
    days: tuple[RunDay, ...]  # days with runs, the oldest first
    worse_than: str = ""  # the predecessor, if this version is clearly worse


@dataclass(frozen=True)
class _Count:
    version: str
    status: str
    code: str
    day: date
    runs: int
    durations: Mapping[str, int]  # milliseconds → runs
    peak_cpu_ms: int
    peak_memory: int


@dataclass(frozen=True)
class SkillStatistics:
    counts: RunCounts
    versions: tuple[VersionStatistics, ...]  # sorted by version, the highest first
    days: tuple[RunDay, ...]  # all days, the oldest first


@reader
def skill_statistics(skill: Skill, actor: Actor, *, now: datetime | None = None) -> Reads[SkillStatistics]:
    """Statistics of the ended runs of the last 90 days that are visible to the actor.

    Runs of a package's test cases do not count. Runs enter the counts per day within a minute; of those not
    yet counted, only the newest ``MAX_RUNS`` are included.
    """
    today = (now or timezone.now()).astimezone(UTC).date()
    first = today - timedelta(days=HISTORY_DAYS - 1)
    counts = yield from _load_counts(skill, actor, first)
    versions: defaultdict[str, list[_Count]] = defaultdict(list)
    days: defaultdict[date, list[_Count]] = defaultdict(list)
    for each in counts:
        versions[each.version].append(each)
        days[each.day].append(each)
    highest = sorted(versions, key=precedence, reverse=True)
    every = (first + timedelta(days=n) for n in range(HISTORY_DAYS))
    return SkillStatistics(
        _counts(counts),
        _mark_worse([_version_statistics(number, versions[number]) for number in highest]),
        tuple(_day(day, days[day]) for day in every),
    )


@reader
def version_statistics(version: Version, actor: Actor) -> Reads[VersionStatistics | None]:
    """The version's entry in ``skill_statistics``; None if there are no runs or the actor is not a user."""
    if actor.user is None:
        return None
    found = yield from skill_statistics.reads(version.skill, actor)
    return next((each for each in found.versions if each.version == version.number), None)


@reader
def runs_by_version(skill: Skill, actor: Actor) -> Reads[Counter[str]]:
    """The number of all ended runs that are visible to the actor, by version number.

    Runs of a package's test cases do not count.
    """
    counted = DailyRuns.objects.visible_to(actor).filter(skill=skill).values_list("version_number", "runs")
    _counted, uncounted = yield from gather(reads_of(counted), _load_uncounted(skill, actor))
    total = Counter[str]()
    for version, runs in counted:
        total[version] += runs
    for each in uncounted:
        total[each.version] += each.runs
    return total


def _load_counts(skill: Skill, actor: Actor, first: date) -> Reads[list[_Count]]:
    counted = DailyRuns.objects.visible_to(actor).filter(skill=skill, day__gte=first)
    columns = (
        "version_number", "status", "failure_code", "day", "runs", "durations", "peak_cpu_ms", "peak_memory",
    )  # fmt: skip
    rows = counted.values_list(*columns)
    _rows, uncounted = yield from gather(reads_of(rows), _load_uncounted(skill, actor))
    return [
        *(_Count(*row) for row in rows),
        *(each for each in uncounted if each.day >= first),
    ]


def _load_uncounted(skill: Skill, actor: Actor) -> Reads[list[_Count]]:
    """Counts of the runs that are not counted per day yet. Uses the index of uncounted runs, which is
    small.
    """
    uncounted = Run.objects.filter(is_counted=False, finished_at__isnull=False).order_by("-id")
    newest = uncounted.values("pk")[:MAX_RUNS]
    runs = Run.objects.visible_to(actor).filter(pk__in=newest, status__in=ENDED).values_list("pk", "skill")
    yield runs
    own = [pk for pk, owner in runs if owner == skill.pk]
    figures = (yield from figures_of.reads(own)) if own else {}
    return [
        _Count(
            key.version_number, key.status, key.failure_code, key.day, each.runs, each.durations,
            each.peak_cpu_ms, each.peak_memory,
        )
        for key, each in figures.items()
    ]  # fmt: skip


def _version_statistics(version: str, counts: Sequence[_Count]) -> VersionStatistics:
    codes = Counter[str]()
    days: defaultdict[date, list[_Count]] = defaultdict(list)
    for each in counts:
        codes[each.code] += each.runs
        days[each.day].append(each)
    durations = _durations(counts)
    return VersionStatistics(
        version=version,
        counts=_counts(counts),
        p50_ms=percentile(durations, 0.5),
        p95_ms=percentile(durations, 0.95),
        peak_cpu_ms=max(each.peak_cpu_ms for each in counts),
        peak_memory=max(each.peak_memory for each in counts),
        codes=_most_frequent(codes),
        days=tuple(_day(day, parts) for day, parts in sorted(days.items())),
    )


def _day(day: date, counts: Sequence[_Count]) -> RunDay:
    return RunDay(day, _counts(counts), _durations(counts))


def _counts(counts: Iterable[_Count]) -> RunCounts:
    return count_runs((each.status, each.runs) for each in counts)


def _durations(counts: Iterable[_Count]) -> Counter[float]:
    durations = Counter[float]()
    for each in counts:
        for ms, runs in each.durations.items():
            durations[float(ms)] += runs
    return durations


def _mark_worse(versions: Sequence[VersionStatistics]) -> tuple[VersionStatistics, ...]:
    marked = []
    for place, each in enumerate(versions):
        lower = (other for other in versions[place + 1 :] if sum(_judged(other)) >= MIN_SAMPLE)
        before = next(lower, None)
        worse = before and is_worse(*_judged(each), *_judged(before))
        marked.append(replace(each, worse_than=before.version) if before and worse else each)
    return tuple(marked)


def _judged(version: VersionStatistics) -> tuple[int, int]:
    return version.counts.succeeded, version.counts.failed


def _most_frequent(codes: Counter[str]) -> tuple[tuple[str, int], ...]:
    rows: Iterable[tuple[str, int]] = ((code, runs) for code, runs in codes.items() if code)
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0])))


def percentile(durations: Counter[float], part: float) -> float | None:
    """The percentile by the nearest-rank method; None if there are no durations. The result always is one of
    the durations.
    """
    rank = -(-durations.total() * int(part * 100) // 100)
    for ms in sorted(durations):
        rank -= durations[ms]
        if rank <= 0:
            return ms
    return None
