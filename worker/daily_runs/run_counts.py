"""How runs are counted, on all pages and in the API. docs/reference/statistics.md has the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from worker.models import FAILED_STATUSES, RunStatus
from worker.queue.states import ENDED


@dataclass(frozen=True)
class RunCounts:
    """Numbers of ended runs by status. Test cases must be left out before: ``RunQuerySet.without_cases``."""

    by_status: Mapping[str, int]

    @property
    def runs(self) -> int:
        return sum(self.by_status.values())

    @property
    def succeeded(self) -> int:
        return self.of(RunStatus.SUCCEEDED)

    @property
    def failed(self) -> int:
        return sum(self.of(status) for status in FAILED_STATUSES)

    @property
    def cancelled(self) -> int:
        return self.of(RunStatus.CANCELLED)

    @property
    def refused(self) -> int:
        return self.of(RunStatus.REFUSED)

    @property
    def success_rate(self) -> int | None:
        """The percentage of succeeded runs among those that succeeded or failed; None if there are none.

        100 only if no run failed.
        """
        judged = self.succeeded + self.failed
        if not judged:
            return None
        rounded = int(100 * self.succeeded / judged + 0.5)
        return min(rounded, 99) if self.failed else rounded

    def of(self, status: str) -> int:
        return self.by_status.get(status, 0)


def count_runs(counts: Iterable[tuple[str, int]]) -> RunCounts:
    """The sums of pairs of a status and a number of runs; ignores runs that have not ended."""
    total = Counter[str]()
    for status, runs in counts:
        if status in ENDED:
            total[str(status)] += runs
    return RunCounts(total)
