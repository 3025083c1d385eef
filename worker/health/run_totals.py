"""Counts all ended runs by status, failure code and duration, at a cost independent of their number.

One row stores the sums up to a time that the reaper moves forward; each call counts only runs that ended
after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from registry.packages.problems import CODES
from worker.models import Run, RunTotals

BUCKETS_S = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
NEVER_STARTED = -1  # the bucket of runs that ended before their start
OTHER_CODE = "other"  # the label for codes that scripts invent
_MARGIN = timedelta(minutes=1)  # allows for transactions that commit later, and for the clocks of other hosts
_MOVE_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Sums:
    runs: int = 0
    attempts: int = 0
    seconds: float = 0.0

    def __add__(self, other: Sums) -> Sums:
        seconds = self.seconds + other.seconds
        return Sums(self.runs + other.runs, self.attempts + other.attempts, seconds)


Key = tuple[str, str, int]
"""Status, failure code, and the index of the duration in ``BUCKETS_S`` (its length for longer ones)."""


def run_totals() -> Mapping[Key, Sums]:
    """The sums over all ended runs, by status, failure code and duration bucket."""
    row = RunTotals.objects.first()
    stored = _stored(row) if row else []
    return _added(stored, _ended_between(row.until if row else None, timezone.now()))


def move_forward() -> None:
    """Adds the runs that ended over a minute ago to the stored sums, at most once a minute.

    Safe to repeat, also concurrently.
    """
    until = timezone.now() - _MARGIN
    row = RunTotals.objects.first()
    if row and row.until > until - _MOVE_EVERY:
        return
    sums = _added(_stored(row) if row else [], _ended_between(row.until if row else None, until))
    document = [[*key, one.runs, one.attempts, round(one.seconds, 3)] for key, one in sums.items()]
    if row:  # unless another process has already moved it
        RunTotals.objects.filter(pk=row.pk, until=row.until).update(until=until, sums=document)
    else:
        RunTotals.objects.bulk_create([RunTotals(pk=1, until=until, sums=document)], ignore_conflicts=True)


def _stored(row: RunTotals) -> list[tuple[Key, Sums]]:
    return [((status, code, bucket), Sums(*sums)) for status, code, bucket, *sums in row.sums]


def _added(*parts: Iterable[tuple[Key, Sums]]) -> dict[Key, Sums]:
    total: dict[Key, Sums] = defaultdict(Sums)
    for part in parts:
        for key, sums in part:
            total[key] += sums
    return dict(total)


def _ended_between(since: datetime | None, until: datetime) -> Iterator[tuple[Key, Sums]]:
    """Yields key and sums of each run that ended after ``since`` (None: no limit) and not after ``until``.

    Does not group in SQL, because SQLite compares durations slowly.
    """
    ended = Run.objects.filter(finished_at__lte=until)
    if since:
        ended = ended.filter(finished_at__gt=since)
    columns = ended.values_list("status", "failure_code", "attempt", "started_at", "finished_at")
    for status, code, attempts, started_at, finished_at in columns.iterator():
        seconds, bucket = 0.0, NEVER_STARTED
        if started_at and finished_at:
            seconds = (finished_at - started_at).total_seconds()
            bucket = bisect_left(BUCKETS_S, seconds)
        yield (status, _label(code), bucket), Sums(1, attempts, seconds)


def _label(code: str) -> str:
    return code if code in CODES or not code else OTHER_CODE
