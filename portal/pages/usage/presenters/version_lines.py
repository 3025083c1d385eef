"""Line charts of a skill's versions: success rate and durations per week, with the releases of versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.http import urlencode

from portal.pages.usage.presenters.columns import days_query
from portal.presenters.charts import ChartPoint
from portal.presenters.content.punctuation import labelled, with_aside
from portal.templatetags.skillquay import milliseconds
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.run_views.statistics import RunDay, VersionStatistics, percentile, sum_durations

_TONES = ("info", "kind-prompt", "kind-tools")  # of the highest versions
_MAX_LINKED = 8  # releases; more would make the page large
_CHARACTER, _MARGIN = 2.1, 2  # widths in a label, in percent of the chart's width on phones


@dataclass(frozen=True)
class VersionWeek:
    """The ended runs of one version in the week that starts with ``first``; of all versions if ``version`` is
    "".
    """

    version: str
    first: date
    middle: float  # percent of the chart's width
    counts: RunCounts
    p50_ms: float | None
    p95_ms: float | None
    query: str  # selects these runs in the list, from the week's end to earlier ones


@dataclass(frozen=True)
class Line:
    label: str
    tone: str
    is_dashed: bool
    points: tuple[ChartPoint, ...]

    @property
    def path(self) -> str:
        """The points for a drawing of 100 × 100."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)


@dataclass(frozen=True)
class LineChart:
    lines: tuple[Line, ...]
    top: str  # label of the upper end of the vertical axis
    bottom: str
    ends: tuple[date, ...]


@dataclass(frozen=True)
class Release:
    """A version that was published in the period. ``label`` is "" if there is no space for it."""

    number: str
    day: date
    x: float  # percent of the width
    label: str


@dataclass(frozen=True)
class Releases:
    """The newest releases, which are links, and the path of the lines of all in a drawing of 100 × 100."""

    newest: tuple[Release, ...]
    path: str


def version_weeks(versions: Sequence[VersionStatistics], days: Sequence[RunDay]) -> list[list[VersionWeek]]:
    """The weeks with runs of the three highest versions that have runs. Weeks start with the first of
    ``days``, which are all days.
    """
    return [_weeks(each.version, each.days, days) for each in versions[: len(_TONES)]]


def table_rows(lines: Sequence[Iterable[VersionWeek]], days: Sequence[RunDay]) -> list[VersionWeek]:
    """The weeks of all versions together (``version`` is "") and those of ``lines``, newest week first. A
    single version has no rows of its own.
    """
    every = _weeks("", [day for day in days if day.counts.runs], days)
    rows = [*every, *(week for weeks in lines for week in weeks if len(lines) > 1)]
    return sorted(rows, key=lambda week: week.first, reverse=True)


def rate_chart(weeks: Sequence[Sequence[VersionWeek]], days: Sequence[RunDay]) -> LineChart | None:
    """Success rates per week; None if no version has two of them."""
    lines = [
        _line(rows, tone, "", lambda week: week.counts.success_rate, 100, _rate_text)
        for rows, tone in zip(weeks, _TONES, strict=False)
    ]
    return _chart(lines, "100%", "0%", days)


def duration_chart(weeks: Sequence[Sequence[VersionWeek]], days: Sequence[RunDay]) -> LineChart | None:
    """P50 (solid) and P95 (dashed) per week; None if no version has two of them."""
    highest = max((week.p95_ms or 0.0 for rows in weeks for week in rows), default=0.0) or 1.0
    lines = [
        _line(rows, tone, label, value, highest, lambda week, value: milliseconds(value))
        for rows, tone in zip(weeks, _TONES, strict=False)
        for label, value in (("P50", lambda week: week.p50_ms), ("P95", lambda week: week.p95_ms))
    ]
    return _chart(lines, milliseconds(highest), "0", days)


def releases(versions: Iterable[tuple[str, datetime]], days: Sequence[RunDay]) -> Releases:
    """The versions, pairs of number and time of publication, that were published within ``days``. A release
    whose label would reach that of a newer one has none.
    """
    found: list[Release] = []
    end = 100.0
    for number, moment in sorted(versions, key=lambda row: row[1], reverse=True):
        place = (moment.date() - days[0].day).days
        if 0 <= place < len(days):
            x = 100 * (place + 0.5) / len(days)
            label = number[:12]
            has_space = x + len(label) * _CHARACTER + _MARGIN <= end
            end = x if has_space else end
            found.insert(0, Release(number, moment.date(), x, label if has_space else ""))
    path = "".join(f"M{release.x:.1f} 0v100" for release in found)
    return Releases(tuple(found[-_MAX_LINKED:]), path)


def _weeks(version: str, runs: Iterable[RunDay], days: Sequence[RunDay]) -> list[VersionWeek]:
    by_week: defaultdict[int, list[RunDay]] = defaultdict(list)
    for each in runs:
        by_week[(each.day - days[0].day).days // 7].append(each)
    return [_week(version, place, runs, days) for place, runs in sorted(by_week.items())]


def _week(version: str, place: int, runs: Sequence[RunDay], days: Sequence[RunDay]) -> VersionWeek:
    first = days[place * 7].day
    durations = sum_durations(each.durations for each in runs)
    chosen = urlencode({"version": version}) + "&" if version else ""
    return VersionWeek(
        version=version,
        first=first,
        middle=min(place * 7 + 3.5, len(days)) * 100 / len(days),
        counts=count_runs(pair for each in runs for pair in each.counts.by_status.items()),
        p50_ms=percentile(durations, 0.5),
        p95_ms=percentile(durations, 0.95),
        query=chosen + days_query(first, 7),
    )


def _line(
    weeks: Iterable[VersionWeek],
    tone: str,
    label: str,
    value_of: Callable[[VersionWeek], float | None],
    highest: float,
    text: Callable[[VersionWeek, float], str],
) -> Line:
    points, name = [], ""
    for week in weeks:
        name = " ".join(filter(None, (week.version, label)))
        if (value := value_of(week)) is not None:
            y = 100 * (1 - value / highest)
            points.append(
                ChartPoint(week.middle, y, week.first, labelled(name, text(week, value)), week.query)
            )
    return Line(name, tone, label == "P95", tuple(points))


def _rate_text(week: VersionWeek, value: float) -> str:
    return with_aside(
        f"{value:.0f}%", f"{week.counts.succeeded}/{week.counts.succeeded + week.counts.failed}"
    )


def _chart(lines: Sequence[Line], top: str, bottom: str, days: Sequence[RunDay]) -> LineChart | None:
    if all(len(line.points) < 2 for line in lines):
        return None
    ends = (days[0].day, days[len(days) // 2].day, days[-1].day)
    return LineChart(tuple(line for line in lines if line.points), top, bottom, ends)
