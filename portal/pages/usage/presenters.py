"""Charts of a skill's days: a stacked column per day, and lines of success rates per version and week."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.functional import Promise

from portal.presenters.charts import WIDTH, Block, columns
from worker.run_views.statistics import RunDay, VersionStatistics

HEIGHT = 90.0


@dataclass(frozen=True)
class Series:
    """One kind of count in all columns, such as runs; ``tone`` sets its color."""

    label: Promise | str
    tone: str


@dataclass(frozen=True)
class ChartBar:
    """A part of a column. ``title`` is shown on hover, for example ``2026-11-20 · Runs: 3``."""

    block: Block
    tone: str
    title: str


@dataclass(frozen=True)
class DayChart:
    """A column chart. ``highest`` is the value at the top of the vertical axis; ``days`` label the horizontal
    axis.
    """

    series: tuple[Series, ...]
    bars: tuple[ChartBar, ...]
    highest: int
    days: tuple[date, ...]
    height: float = HEIGHT


def day_chart(days: Sequence[tuple[date, Sequence[int]]], series: tuple[Series, ...]) -> DayChart:
    """A chart of ``days``, each with one count per series, from the bottom to the top of its column."""
    counts = [parts for _day, parts in days]
    shown = [(place, part) for place, parts in enumerate(counts) for part, count in enumerate(parts) if count]
    bars = (
        ChartBar(
            block,
            series[part].tone,
            f"{days[place][0]:%Y-%m-%d} · {series[part].label}: {counts[place][part]}",
        )
        for block, (place, part) in zip(columns(counts, height=HEIGHT), shown, strict=True)
    )
    labels = (days[0][0], days[len(days) // 2][0], days[-1][0]) if days else ()
    return DayChart(series, tuple(bars), max(map(sum, counts), default=0), labels)


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    title: str


@dataclass(frozen=True)
class RateLine:
    """The success rate of one version per week with runs; ``path`` is a list of SVG points."""

    version: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)


def rate_lines(versions: Sequence[VersionStatistics], days: Sequence[RunDay]) -> list[RateLine]:
    """The lines of the two highest versions with runs in more than one week; ``days`` are the chart's."""
    lines = (RateLine(each.version, tuple(_points(each, days))) for each in versions)
    return [line for line in lines if len(line.points) > 1][:2]


def _points(version: VersionStatistics, days: Sequence[RunDay]) -> Iterator[Point]:
    """Yields a point in the middle of each week with runs. Weeks start with the first of ``days``."""
    weeks: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for each in version.days:
        week = weeks[(each.day - days[0].day).days // 7]
        week[0] += each.succeeded
        week[1] += each.succeeded + each.failed
    for place, (succeeded, runs) in sorted(weeks.items()):
        first = days[place * 7].day
        percent = 100 * succeeded / runs
        title = f"{first:%Y-%m-%d} · {version.version}: {percent:.0f} % ({succeeded}/{runs})"
        yield Point(min(place * 7 + 3.5, len(days)) * WIDTH / len(days), HEIGHT * (1 - percent / 100), title)
