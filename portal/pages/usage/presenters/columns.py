"""Column charts of a skill's uses and runs: one stacked column per day or week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.functional import Promise

from portal.presenters.charts import ChartColumn
from portal.presenters.content.punctuation import labelled

HEIGHT = 300
STEP = 10  # width of a column's space


@dataclass(frozen=True)
class Series:
    """One kind of count in all columns: a status of runs or a kind of use."""

    name: str
    label: Promise | str
    tone: str
    icon: str = "dot"


@dataclass(frozen=True)
class ColumnChart:
    """``bars`` are pairs of the tone of a series and the SVG path of its bars in all columns, as vertical
    lines. ``highest`` is the value at the top of the vertical axis; ``ends`` label the horizontal axis.
    """

    series: tuple[Series, ...]
    bars: tuple[tuple[str, str], ...]
    columns: tuple[ChartColumn, ...]
    highest: int
    ends: tuple[date, ...]
    width: int
    height: int = HEIGHT


def column_chart(
    rows: Sequence[tuple[date, Sequence[int]]], series: Sequence[Series], *, days: int = 1
) -> ColumnChart:
    """A chart of ``rows``, each with its first day and one count per series, from the bottom to the top of
    the column. ``days`` is the length of a column. Omits series and rows without counts.
    """
    highest = max((sum(counts) for _day, counts in rows), default=0)
    used = tuple(each for place, each in enumerate(series) if any(counts[place] for _day, counts in rows))
    bars: dict[str, list[str]] = {each.name: [] for each in used}
    columns = []
    for place, (day, counts) in enumerate(rows):
        counted = [(each, count) for each, count in zip(series, counts, strict=True) if count]
        if counted:
            columns.append(_column(place * STEP, counted, day, days_query(day, days)))
            for name, path in _bars(place * STEP, counted, highest):
                bars[name].append(path)
    ends = (rows[0][0], rows[len(rows) // 2][0], rows[-1][0]) if rows else ()
    paths = tuple((each.tone, "".join(bars[each.name])) for each in used)
    return ColumnChart(used, paths, tuple(columns), highest, ends, len(rows) * STEP)


def days_query(day: date, days: int) -> str:
    """The filters with which the list of runs has only the runs of these days."""
    return f"day={day}&days={days}" if days > 1 else f"day={day}"


def _column(x: int, counted: Sequence[tuple[Series, int]], day: date, query: str) -> ChartColumn:
    """The column at ``x``, with a title such as ``2026-11-20 · Succeeded: 3 · Failed: 1``."""
    texts = [f"{day:%Y-%m-%d}", *(labelled(each.label, count) for each, count in counted)]
    return ChartColumn(" · ".join(texts), f"M{x + STEP // 2} 0v{HEIGHT}", query)


def _bars(x: int, counted: Sequence[tuple[Series, int]], highest: int) -> Iterator[tuple[str, str]]:
    """Yields the name of each series and the path of its bar in the column at ``x``, from the bottom up."""
    bottom = HEIGHT
    for each, count in counted:
        tall = max(round(HEIGHT * count / highest), 2)
        bottom -= tall
        yield each.name, f"M{x + STEP // 2} {bottom}v{tall}"
