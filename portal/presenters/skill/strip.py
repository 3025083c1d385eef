"""The strip of a skill's or version's last runs: a bar per run, and the success rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from portal.presenters.status import TONES
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import Run

LENGTH = 30


@dataclass(frozen=True)
class StripBar:
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
    def rate(self) -> int | None:
        return self.counts.success_rate


def strip_of(newest_first: Iterable[Run]) -> Strip:
    """Bars and success counts of the newest 30 runs. Reads only ``status`` and ``created_at``."""
    runs = list(newest_first)[:LENGTH][::-1]
    start = LENGTH - len(runs)
    bars = tuple(
        StripBar(10 * (start + place), TONES[run.status][0], str(TONES[run.status][2]), run.created_at)
        for place, run in enumerate(runs)
    )
    return Strip(bars, count_runs((run.status, 1) for run in runs))
