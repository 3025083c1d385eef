"""The trend of an error group: its failures per day, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from worker.failures.newest import MAX_COUNTED, DailyFailures

DAYS = 14
STEP, HEIGHT = 7, 24  # the width of a day and the height of the drawing


@dataclass(frozen=True)
class TrendBar:
    """A day with failures: its place in the drawing, and its date and number of failures."""

    x: int
    height: int
    text: str


@dataclass(frozen=True)
class Trend:
    """The days with failures. ``text`` has the same values as a sentence; ``total`` is their sum."""

    bars: tuple[TrendBar, ...]
    text: str
    total: int
    width: int = DAYS * STEP
    height: int = HEIGHT


def first_day() -> date:
    """The first of the days that a trend shows."""
    return timezone.now().astimezone(UTC).date() - timedelta(days=DAYS - 1)


def trend_of(failures: DailyFailures, first: date) -> Trend:
    """The trend of ``DAYS`` days since ``first``, on a scale of its own."""
    counts = sorted(failures.counts.items())
    highest = max((number for _day, number in counts), default=0)
    bars = tuple(
        TrendBar((day - first).days * STEP, max(HEIGHT * number // highest, 3), _text(day, number, failures))
        for day, number in counts
    )
    total = sum(number for _day, number in counts)
    head = ngettext("%(n)s failure in 14 days (UTC)", "%(n)s failures in 14 days (UTC)", total) % {"n": total}
    if failures.complete_from > first:
        head = _("Newest %(n)s failures, by day (UTC)") % {"n": MAX_COUNTED}
    return Trend(bars, " · ".join([head, *(bar.text for bar in bars)]), total)


def _text(day: date, number: int, failures: DailyFailures) -> str:
    return f"{day:%Y-%m-%d}: {number}{'+' if day < failures.complete_from else ''}"
