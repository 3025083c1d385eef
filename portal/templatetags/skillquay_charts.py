"""Tags that draw the parts of charts, in Python because templates would make pages much larger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from portal.presenters.charts import ChartColumn, ChartPoint

register = template.Library()


class _Columns(Protocol):
    @property
    def bars(self) -> Iterable[tuple[str, str]]: ...
    @property
    def columns(self) -> Iterable[ChartColumn]: ...


class _Bar(Protocol):
    @property
    def x(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def text(self) -> str: ...


class _Trend(Protocol):
    @property
    def bars(self) -> Iterable[_Bar]: ...
    @property
    def text(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...


class _Line(Protocol):
    @property
    def tone(self) -> str: ...
    @property
    def points(self) -> Iterable[ChartPoint]: ...


@register.simple_tag
def chart_columns(chart: _Columns, url: str = "") -> SafeString:
    """The columns as SVG: a path of lines per series, and an area with a title over each column. The areas
    are links to ``url`` with the columns' queries if there is a URL.
    """
    bars = "".join(f'<path class="bar {tone}" d="{path}"/>' for tone, path in chart.bars)
    areas = "".join(_linked(column.query, url, _area(column)) for column in chart.columns)
    return mark_safe(f'<g stroke-width="8">{bars}</g>{areas}')


@register.simple_tag
def chart_points(lines: Iterable[_Line], url: str) -> SafeString:
    """The points of the lines as SVG circles, those with the same query in one link to ``url``."""
    by_tone: defaultdict[str, defaultdict[str, list[ChartPoint]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for point in line.points:
            by_tone[line.tone][point.query].append(point)
    groups = (
        f'<g class="dot {tone}">'
        + "".join(_linked(query, url, _circles(some)) for query, some in found.items())
        + "</g>"
        for tone, found in by_tone.items()
    )
    return mark_safe("".join(groups))


@register.simple_tag
def trend(shown: _Trend | None) -> SafeString:
    """The trend as SVG: a bar per day, with its value on hover; all values are the name of the drawing."""
    if shown is None:
        return mark_safe("")
    wide, high = shown.width, shown.height
    days = "".join(
        f'<path d="M{bar.x} 0h7v{high}h-7z"><title>{escape(bar.text)}</title></path>' for bar in shown.bars
    )
    bars = "".join(f"M{bar.x + 1} {high}v-{bar.height}h5v{bar.height}z" for bar in shown.bars)
    return mark_safe(
        f'<svg class="lone bad" width="{wide}" height="{high}" role="img" aria-label="{escape(shown.text)}">'
        f'<path class="grid" d="M0 {high - 0.5}h{wide}"/><path fill="currentColor" d="{bars}"/>'
        f'<g fill="none" pointer-events="all">{days}</g></svg>'
    )


def _area(column: ChartColumn) -> str:
    return f'<title>{escape(column.title)}</title><path d="{column.area}"/>'


def _circles(points: Sequence[ChartPoint]) -> str:
    circles = (f'<circle cx="{point.x:.1f}%" cy="{point.y:.1f}%" r="4"/>' for point in points)
    title = " · ".join([str(points[0].day), *(point.text for point in points)])
    return f"<title>{escape(title)}</title>{''.join(circles)}"


def _linked(query: str, url: str, svg: str) -> str:
    return f'<a href="{escape(url)}?{escape(query)}" tabindex="-1">{svg}</a>' if url else f"<g>{svg}</g>"
