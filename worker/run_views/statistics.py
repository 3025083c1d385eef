"""Statistics of a skill's runs by version and by day, from the counts per day and runs not yet counted.

The counts per day stay when retention removes the runs, so the statistics do not change.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from registry.core.sql import Reads, gather, prepared, reader, reads_of
from registry.identity.actors import Actor
from registry.models import Skill, Version
from registry.packages.version_numbers import precedence
from registry.usage.scores import HISTORY_DAYS
from worker.daily_runs.roll_up import figures_of
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import DailyRuns, Run
from worker.models.daily_runs import sees_all_runs
from worker.queue.states import ENDED
from worker.run_views.regression import MIN_SAMPLE, is_worse

_DURATIONS = Cast("durations", TextField())  # as JSON, for ``_decode``
_COLUMNS = ("version_number", "day", "peak_cpu_ms", "peak_memory", _DURATIONS)
MAX_RUNS = 5000  # limit of runs not yet counted per day; the newest are read


Durations = Mapping[str, int]  # milliseconds → runs
Outcomes = Mapping[str, Mapping[str, int]]  # status → failure code → runs


@dataclass(frozen=True)
class RunDay:
    """The ended runs that were requested on one day (UTC)."""

    day: date
    counts: RunCounts
    duration_parts: Sequence[Durations]

    @property
    def durations(self) -> Durations:
        """Added up only when read, because most views show no durations of single days."""
        return sum_durations(self.duration_parts)


@dataclass(frozen=True)
class VersionStatistics:
    """The ended runs of one version; durations exclude runs that were answered from the cache.

    Durations have two significant digits. CPU time and memory are 0 if unknown.
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
    day: date
    peak_cpu_ms: int
    peak_memory: int
    durations: Durations
    outcomes: Outcomes

    @property
    def by_status(self) -> Iterator[tuple[str, int]]:
        return ((status, sum(codes.values())) for status, codes in self.outcomes.items())


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
    first = _first_day(now)
    counts = yield from _load_counts(skill, actor, first)
    days: defaultdict[date, list[_Count]] = defaultdict(list)
    for each in counts:
        days[each.day].append(each)
    every = (first + timedelta(days=n) for n in range(HISTORY_DAYS))
    return SkillStatistics(
        _counts(counts), _versions(counts), tuple(_day(day, days.get(day, ())) for day in every)
    )


@reader
def version_statistics(version: Version, actor: Actor) -> Reads[VersionStatistics | None]:
    """The version's entry in ``skill_statistics``; None if there are no runs or the actor is not a user."""
    if actor.user is None:
        return None
    counts = yield from _load_counts(version.skill, actor, _first_day())
    return next((each for each in _versions(counts) if each.version == version.number), None)


@reader
def usual_duration(run: Run, actor: Actor) -> Reads[float | None]:
    """The median duration in milliseconds of the version's ended runs that the actor can see, of those that
    are counted per day; None if there are none. Cheaper than ``version_statistics``, as live pages repeat it.
    """
    if run.skill is None:
        return None
    rows = DailyRuns.objects.filter(skill=run.skill, version_number=run.version_number, day__gte=_first_day())
    rows = rows.totals() if sees_all_runs(run.skill, actor) else rows.visible_to(actor)
    yield (durations := rows.values_list(_DURATIONS, flat=True))
    return percentile(sum_durations(map(_decode, durations)), 0.5)


def _first_day(now: datetime | None = None) -> date:
    return (now or timezone.now()).astimezone(UTC).date() - timedelta(days=HISTORY_DAYS - 1)


def _versions(counts: Iterable[_Count]) -> tuple[VersionStatistics, ...]:
    """The statistics of each version, the highest first."""
    versions: defaultdict[str, list[_Count]] = defaultdict(list)
    for each in counts:
        versions[each.version].append(each)
    highest = sorted(versions, key=precedence, reverse=True)
    return _mark_worse([_version_statistics(number, versions[number]) for number in highest])


@reader
def runs_by_version(skill: Skill, actor: Actor) -> Reads[Counter[str]]:
    """The number of all ended runs that are visible to the actor, by version number.

    Runs of a package's test cases do not count.
    """
    rows = DailyRuns.objects.filter(skill=skill)
    rows = rows.totals() if sees_all_runs(skill, actor) else rows.visible_to(actor)
    counted = rows.values_list("version_number", "runs")
    _counted, uncounted = yield from gather(reads_of(counted), _load_uncounted(skill, actor))
    total = Counter[str]()
    for version, runs in counted:
        total[version] += runs
    for each in uncounted:
        total[each.version] += sum(runs for _status, runs in each.by_status)
    return total


def _load_counts(skill: Skill, actor: Actor, first: date) -> Reads[list[_Count]]:
    is_total = sees_all_runs(skill, actor)
    days = _totals_since(skill.pk, first) if is_total else _counted_since(actor, skill.pk, first)
    _days, uncounted = yield from gather(reads_of(days), _load_uncounted(skill, actor))
    decoded = ((*row[:4], _decode(row[4]), *row[5:]) for row in days)
    counted = (_Count(*row) if is_total else _count_of_outcome(*row) for row in decoded)
    return [*counted, *(each for each in uncounted if each.day >= first)]


def _load_uncounted(skill: Skill, actor: Actor) -> Reads[list[_Count]]:
    """Counts of the runs that are not counted per day yet. Uses the index of uncounted runs, which is
    small.
    """
    yield (runs := _uncounted(actor))
    own = [pk for pk, owner in runs if owner == skill.pk]
    figures = (yield from figures_of.reads(own)) if own else {}
    return [
        _count_of_outcome(
            key.version_number, key.day, each.peak_cpu_ms, each.peak_memory, each.durations,
            key.status, key.failure_code, each.runs,
        )
        for key, each in figures.items()
    ]  # fmt: skip


def _count_of_outcome(
    version: str, day: date, cpu_ms: int, memory: int, durations: Durations, status: str, code: str, runs: int
) -> _Count:
    return _Count(version, day, cpu_ms, memory, durations, {status: {code: runs}})


@prepared
def _totals_since(skill: int, first: date) -> QuerySet[DailyRuns, tuple[Any, ...]]:
    totals = DailyRuns.objects.totals().filter(skill_id=skill, day__gte=first)
    return totals.values_list(*_COLUMNS, "outcomes")


@prepared
def _counted_since(actor: Actor, skill: int, first: date) -> QuerySet[DailyRuns, tuple[Any, ...]]:
    counted = DailyRuns.objects.visible_to(actor).filter(skill_id=skill, day__gte=first)
    return counted.values_list(*_COLUMNS, "status", "failure_code", "runs")


@prepared
def _uncounted(actor: Actor) -> QuerySet[Run, tuple[int, int | None]]:
    uncounted = Run.objects.filter(is_counted=False, finished_at__isnull=False).order_by("-id")
    newest = uncounted.values("pk")[:MAX_RUNS]
    return Run.objects.visible_to(actor).filter(pk__in=newest, status__in=ENDED).values_list("pk", "skill")


def _version_statistics(version: str, counts: Sequence[_Count]) -> VersionStatistics:
    codes = Counter[str]()
    days: defaultdict[date, list[_Count]] = defaultdict(list)
    for each in counts:
        for found in each.outcomes.values():
            codes.update(found)
        days[each.day].append(each)
    durations = sum_durations(each.durations for each in counts)
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
    return RunDay(day, _counts(counts), [each.durations for each in counts])


def _counts(counts: Iterable[_Count]) -> RunCounts:
    return count_runs(pair for each in counts for pair in each.by_status)


@lru_cache(maxsize=512)
def _decode(durations: str) -> Durations:
    """The durations of a day from JSON. Cached, because earlier days do not change and are read again after
    each run; callers must not change them.
    """
    found: dict[str, int] = json.loads(durations)
    return found


def sum_durations(parts: Iterable[Durations]) -> Durations:
    filled = [each for each in parts if each]
    if len(filled) == 1:
        return filled[0]
    total: defaultdict[str, int] = defaultdict(int)
    for each in filled:
        for duration, runs in each.items():
            total[duration] += runs
    return total


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


def percentile(durations: Durations, part: float) -> float | None:
    """The percentile by the nearest-rank method; None if there are no durations. The result always is one of
    the durations.
    """
    rank = -(-sum(durations.values()) * int(part * 100) // 100)
    for ms in sorted(durations, key=float):
        rank -= durations[ms]
        if rank <= 0:
            return float(ms)
    return None
