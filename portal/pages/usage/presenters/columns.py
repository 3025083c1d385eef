"""Column charts of a skill's uses and runs: one stacked column per day or week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.functional import Promise

from portal.presenters.charts import ChartColumn

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
    """``highest`` is the value at the top of the vertical axis; ``ends`` label the horizontal axis."""

    series: tuple[Series, ...]
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
    columns = tuple(
        _column(place * STEP, counts, highest, series, day, days_query(day, days))
        for place, (day, counts) in enumerate(rows)
        if any(counts)
    )
    ends = (rows[0][0], rows[len(rows) // 2][0], rows[-1][0]) if rows else ()
    return ColumnChart(used, columns, highest, ends, len(rows) * STEP)


def days_query(day: date, days: int) -> str:
    """The filters with which the list of runs has only the runs of these days."""
    return f"day={day}&days={days}" if days > 1 else f"day={day}"


def _column(
    x: int, counts: Sequence[int], highest: int, series: Sequence[Series], day: date, query: str
) -> ChartColumn:
    """The column at ``x``, with a title such as ``2026-11-20 · Succeeded: 3 · Failed: 1``."""
    blocks, bottom, texts = [], HEIGHT, [f"{day:%Y-%m-%d}"]
    for each, count in zip(series, counts, strict=True):
        if count:
            texts.append(f"{each.label}: {count}")
            tall = max(round(HEIGHT * count / highest), 2)
            bottom -= tall
            blocks.append((each.tone, f"M{x + 1} {bottom}h8v{tall}h-8z"))
    return ChartColumn(" · ".join(texts), f"M{x} 0h10v{HEIGHT}h-10z", tuple(blocks), query)
