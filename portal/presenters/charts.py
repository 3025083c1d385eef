"""Coordinates of bars and dots that templates draw as SVG. Widths are in thousandths of the drawing's
width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import floor, log10
from typing import Any

from portal.presenters.status import TONES
from worker.models import Run

WIDTH = 1000.0
_MIN_RUNS = 5  # below this a dot chart adds nothing to the table
_SHAPES = {"succeeded": "success", "failed": "failure", "timed_out": "failure", "lost": "failure"}
_MIN_WIDTH = 3.0  # so that a very short bar is visible


@dataclass(frozen=True)
class ChartColumn:
    """A stacked column. ``area`` is the SVG path of its space; ``query`` selects its items in a list."""

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


def bars(spans: Sequence[tuple[float, float]]) -> list[Bar]:
    """A bar for each pair of start and duration, on one scale from 0 to the latest end.

    A bar is at least ``_MIN_WIDTH`` wide.
    """
    whole = max((start + duration for start, duration in spans), default=0.0)
    return [_bar(start, duration, whole) for start, duration in spans]


def _bar(start: float, duration: float, whole: float) -> Bar:
    if whole <= 0:
        return Bar(0.0, _MIN_WIDTH)
    width = max(duration / whole * WIDTH, _MIN_WIDTH)
    return Bar(round(min(start / whole * WIDTH, WIDTH - width), 1), round(width, 1))


def dots(runs: Sequence[tuple[Run, float | None]]) -> dict[str, Any]:
    """The dots of runs with durations (in ms), by creation time and duration; {} for few runs.

    Positions are percentages of the drawing. The duration has a square root scale, so that short runs
    remain distinguishable: ``marks`` are a quarter of the highest duration, and half as high.
    """
    timed = [(run, run.created_at, took) for run, took in runs if took is not None]
    if len(timed) < _MIN_RUNS:
        return {}
    first, last = min(at for _, at, _ in timed), max(at for _, at, _ in timed)
    span = (last - first).total_seconds() or 1.0
    highest = _round_up(max(took for _, _, took in timed))
    found = [
        {
            "x": f"{2 + (at - first).total_seconds() / span * 96:.1f}%",
            "y": f"{100 - 92 * (took / highest) ** 0.5:.1f}%",
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
        "marks": (highest, highest / 4, 0.0),
        "times": (first, first + (last - first) / 2, last),
    }


def _round_up(milliseconds: float) -> float:
    """The next round duration: 1, 2 or 5 times a power of ten, of seconds up to a minute, then of minutes."""
    unit = 60_000.0 if milliseconds > 50_000 else 1.0
    if 0 < unit * 10 < milliseconds:
        unit *= 10.0 ** floor(log10(milliseconds / unit))
    return next(unit * step for step in (1, 2, 5, 10) if unit * step >= milliseconds)
