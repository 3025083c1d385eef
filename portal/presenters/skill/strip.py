"""The strip of a skill's or version's last runs: a bar per run, and the success rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from portal.presenters.status import TONES
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import Run

LENGTH = 30


class StripBar(NamedTuple):
    x: int
    tone: str
    label: str
    at: datetime


@dataclass(frozen=True)
class Strip:
    """The strip of a skill or version, with ``bars`` from the oldest to the newest run."""

    bars: tuple[StripBar, ...]
    counts: RunCounts

    @property
    def areas(self) -> list[tuple[str, str]]:
        """Pairs of tone and SVG path of all its bars, for lists, where single bars have no title."""
        paths: dict[str, str] = {}
        for bar in self.bars:
            paths[bar.tone] = f"{paths.get(bar.tone, '')}M{bar.x + 3} 0v28"
        return list(paths.items())

    @property
    def rate(self) -> int | None:
        return self.counts.success_rate


def strip_of(newest_first: Iterable[Run]) -> Strip:
    """Bars and success counts of the newest 30 runs. Reads only ``status`` and ``created_at``."""
    return strip_of_outcomes((run.status, run.created_at) for run in newest_first)


def strip_of_outcomes(newest_first: Iterable[tuple[str, datetime]]) -> Strip:
    """The strip of pairs of a status in ``TONES`` and a time; only statuses of ended runs count for the
    rate.
    """
    rows = list(newest_first)[:LENGTH][::-1]
    start = LENGTH - len(rows)
    bars = tuple(
        StripBar(10 * (start + place), TONES[status][0], str(TONES[status][2]), at)
        for place, (status, at) in enumerate(rows)
    )
    return Strip(bars, count_runs((status, 1) for status, _at in rows))
