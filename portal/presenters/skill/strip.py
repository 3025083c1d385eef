"""The strip of a skill's or version's last runs: a bar per run, and the success rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.presenters.status import TONES
from registry.models import Version
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import Run

LENGTH = 30
_MIN_VERSIONS = 3  # fewer are as quick to read in the list
_STATES: dict[str, tuple[str, str, Promise]] = {
    "released": ("ok", "ok", _("Available")),
    "deprecated": ("quiet", "warn", _("Deprecated")),
    "yanked": ("warn", "stopped", _("Yanked")),
    "held": ("bad", "lock", _("Held")),
}


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

    @property
    def judged(self) -> int:
        """The number of its runs that succeeded or failed, which the rate counts."""
        return self.counts.succeeded + self.counts.failed


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


@dataclass(frozen=True)
class VersionStrip:
    """A bar for each of a skill's newest versions, from the oldest to the newest; and tone, icon, label and
    number of each state among them.
    """

    bars: tuple[tuple[StripBar, Version], ...]
    states: tuple[tuple[str, str, Promise, int], ...]


def version_strip(versions: Iterable[Version]) -> VersionStrip | None:
    """The strip of the newest versions by publication; None for few versions."""
    newest = sorted(versions, key=lambda version: (version.created_at, version.pk))[-LENGTH:]
    if len(newest) < _MIN_VERSIONS:
        return None
    states = [_state(version) for version in newest]
    bars = tuple(
        (StripBar(10 * place, _STATES[state][0], str(_STATES[state][2]), version.created_at), version)
        for place, (state, version) in enumerate(zip(states, newest, strict=True))
    )
    counts = Counter(states)
    return VersionStrip(bars, tuple((*_STATES[state], counts[state]) for state in _STATES if counts[state]))


def _state(version: Version) -> str:
    if version.is_held:
        return "held"
    if version.yanked_at:
        return "yanked"
    return "deprecated" if version.deprecated_at else "released"
