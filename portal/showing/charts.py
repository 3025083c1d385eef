"""Where bars and dots of a drawing lie; templates draw them. Widths are in thousandths of the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.showing.status import TONES

WIDTH = 1000.0
_FEWEST = 5  # runs that a dot chart says more of than their table does
_LEAST = 3.0  # thousandths, so that a very short bar is seen


@dataclass(frozen=True)
class Span:
    """A piece of time: ``start_ms`` from the drawing's beginning."""

    start_ms: float
    duration_ms: float


@dataclass(frozen=True)
class Bar:
    x: float
    width: float


@dataclass(frozen=True)
class Block:
    """One kind's part of a column; ``kind`` is its place among the parts."""

    x: float
    y: float
    width: float
    height: float
    kind: int


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    uid: str
    status: str
    at: datetime
    duration_ms: float

    @property
    def tone(self) -> str:
        return TONES.get(self.status, ("quiet",))[0]


@dataclass(frozen=True)
class Timed:
    """A run as the dot chart needs it."""

    uid: str
    status: str
    at: datetime
    duration_ms: float


def bars(spans: Sequence[Span]) -> list[Bar]:
    """A bar for each span, on one scale that ends with the last of them."""
    whole = max((span.start_ms + span.duration_ms for span in spans), default=0.0)
    return [_bar(span, whole) for span in spans]


def _bar(span: Span, whole: float) -> Bar:
    if whole <= 0:
        return Bar(0.0, _LEAST)
    width = max(span.duration_ms / whole * WIDTH, _LEAST)
    return Bar(round(min(span.start_ms / whole * WIDTH, WIDTH - width), 1), round(width, 1))


def columns(days: Sequence[Sequence[int]], *, height: float) -> list[Block]:
    """A column a day, its parts above one another, on one scale that ends with the highest."""
    highest = max((sum(parts) for parts in days), default=0) or 1
    step = WIDTH / max(len(days), 1)
    found = []
    for place, parts in enumerate(days):
        top = height
        for kind, count in enumerate(parts):
            tall = count / highest * height
            top -= tall
            if count:
                x = round((place + 0.1) * step, 1)
                found.append(Block(x, round(top, 1), round(step * 0.8, 1), round(tall, 1), kind))
    return found


def dots(runs: Sequence[Timed], *, height: float) -> list[Dot]:
    """Durations over time; the square root keeps short runs apart beside a long one."""
    if len(runs) < _FEWEST:
        return []
    times = [run.at.timestamp() for run in runs]
    first, last = min(times), max(times)
    longest = max(run.duration_ms for run in runs) or 1.0
    room = height - 12
    return [
        Dot(
            x=round(8 + (at - first) / ((last - first) or 1.0) * (WIDTH - 16), 1),
            y=round(6 + room * (1 - (run.duration_ms / longest) ** 0.5), 1),
            uid=run.uid,
            status=run.status,
            at=run.at,
            duration_ms=run.duration_ms,
        )
        for run, at in zip(runs, times, strict=True)
    ]
