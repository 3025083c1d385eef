"""Tags that draw the parts of charts, in Python because templates would make pages much larger."""

from collections.abc import Iterable

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from portal.presenters.charts import ChartColumn, ChartPoint

register = template.Library()


@register.simple_tag
def chart_columns(columns: Iterable[ChartColumn], url: str = "") -> SafeString:
    """The columns as SVG; each is a link to ``url`` with its query if there is a URL."""
    return mark_safe("".join(_linked(column.query, url, _column(column)) for column in columns))


@register.simple_tag
def chart_points(points: Iterable[ChartPoint], tone: str, url: str) -> SafeString:
    """The points as SVG circles, each in a link to ``url`` with its query."""
    return mark_safe("".join(_linked(point.query, url, _circle(point, tone)) for point in points))


def _column(column: ChartColumn) -> str:
    paths = "".join(f'<path class="bar {tone}" d="{path}"/>' for tone, path in column.blocks)
    return f'<title>{escape(column.title)}</title><path d="{column.area}"/>{paths}'


def _circle(point: ChartPoint, tone: str) -> str:
    place = f'cx="{point.x:.1f}%" cy="{point.y:.1f}%" r="4"'
    return f'<circle class="dot {tone}" {place}><title>{escape(point.title)}</title></circle>'


def _linked(query: str, url: str, svg: str) -> str:
    return f'<a href="{escape(url)}?{escape(query)}" tabindex="-1">{svg}</a>' if url else f"<g>{svg}</g>"
