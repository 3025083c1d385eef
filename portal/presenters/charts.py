"""Coordinates of bars and dots that templates draw as SVG. Widths are in thousandths of the drawing's
width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, floor, log10
from typing import Any

from portal.presenters.status import TONES
from worker.models import Run

WIDTH = 1000.0
_MIN_RUNS = 5  # below this a dot chart adds nothing to the table
_SHAPES = {"succeeded": "success", "failed": "failure", "timed_out": "failure", "lost": "failure"}
_MAX_MARKS = 5  # of a vertical axis
_SHORT_S = 300  # below this span, the times at the axis have seconds
_SAME_S = 3  # below this span, times with seconds can be equal
_DAY_S = 86_400
_ROUND = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
_MIN_WIDTH = 3.0  # so that a very short bar is visible


@dataclass(frozen=True)
class ChartColumn:
    """A stacked column. ``area`` is the SVG path of its space, a vertical line; ``query`` selects its items
    in a list.
    """

    title: str
    area: str
    query: str = ""


@dataclass(frozen=True)
class ChartPoint:
    """A point at percentages of the drawing, with its value; ``query`` selects its items in a list."""

    x: float
    y: float
    day: date
    text: str
    query: str


@dataclass(frozen=True)
class Bar:
    x: float
    width: float


def bars(spans: Sequence[tuple[float, float]], whole: float) -> list[Bar]:
    """A bar for each pair of start and duration, on one scale from 0 to ``whole``.

    A bar is at least ``_MIN_WIDTH`` wide.
    """
    return [_bar(start, duration, whole) for start, duration in spans]


def round_up(milliseconds: float) -> float:
    """The end of a time axis: a round duration that is at most half as long again. Half of it is round, too.

    It is a multiple of a power of ten, of milliseconds up to a minute, then of minutes.
    """
    unit = 60_000.0 if milliseconds > 60_000 else 1.0
    if milliseconds > 0:
        unit *= 10.0 ** floor(log10(milliseconds / unit))
    return next(unit * step for step in _ROUND if unit * step >= milliseconds)


def _bar(start: float, duration: float, whole: float) -> Bar:
    if whole <= 0:
        return Bar(0.0, _MIN_WIDTH)
    width = max(duration / whole * WIDTH, _MIN_WIDTH)
    return Bar(round(min(start / whole * WIDTH, WIDTH - width), 1), round(width, 1))


def dots(runs: Sequence[tuple[Run, float | None]]) -> dict[str, Any]:
    """The dots of runs with durations (in ms), by creation time and duration; {} for few runs.

    Positions are percentages of the drawing. The duration has a logarithmic scale, because the runs of a list
    can take milliseconds or hours. ``marks`` are pairs of a power of ten (in seconds) and its position, from
    the top. ``times`` are those at the other axis: only the first one for a span below ``_SAME_S``, which is
    ``span_s``.
    """
    timed = [(run, run.created_at, took) for run, took in runs if took is not None]
    if len(timed) < _MIN_RUNS:
        return {}
    first, last = min(at for _, at, _ in timed), max(at for _, at, _ in timed)
    span = (last - first).total_seconds() or 1.0
    powers = _powers([took for _, _, took in timed])
    lowest, highest = powers[0], powers[-1]

    def height(power: float) -> float:
        return round(92 - 84 * (power - lowest) / (highest - lowest), 1)

    found = [
        {
            "x": f"{2 + (at - first).total_seconds() / span * 96:.1f}%",
            "y": f"{height(log10(max(took, 1.0)))}%",
            "tone": TONES.get(run.status, ("quiet",))[0],
            "label": TONES.get(run.status, ("", "", run.status))[2],
            "shape": _SHAPES.get(run.status, "other"),
            "run": run,
            "duration_ms": took,
        }
        for run, at, took in timed
    ]
    return {
        "dots": found,
        "shapes": {dot["shape"] for dot in found},
        "marks": [(f"{10.0 ** (power - 3):g}", f"{height(power)}%") for power in reversed(powers)],
        "times": (first,) if span < _SAME_S else (first, first + (last - first) / 2, last),
        "span_s": f"{span:.1f}" if 0.05 <= span < _SAME_S and last > first else "",
        "with_seconds": span < _SHORT_S,
        "with_dates": span >= _DAY_S,
    }


def _powers(durations: Sequence[float]) -> range:
    """The powers of ten (of milliseconds) at which the scale has marks: at least two, at most ``_MAX_MARKS``,
    and all durations between them.
    """
    lowest = floor(log10(max(min(durations), 1.0)))
    highest = max(ceil(log10(max(*durations, 1.0))), lowest + 1)
    step = ceil((highest - lowest) / (_MAX_MARKS - 1))
    return range(lowest, lowest + step * ceil((highest - lowest) / step) + 1, step)
