"""Tests whether a version fails clearly more often than its predecessor (Fisher's exact test, one-sided)."""

from __future__ import annotations

from math import exp, lgamma

MIN_SAMPLE = 20  # runs of each version that succeeded or failed
MAX_PROBABILITY = 0.01


def is_worse(succeeded: int, failed: int, before_succeeded: int, before_failed: int) -> bool:
    """Whether the version fails clearly more often than the one before.

    True if two equally good versions would differ this much with a probability of at most 1 %. False if one
    of them has fewer than ``MIN_SAMPLE`` runs.
    """
    if min(succeeded + failed, before_succeeded + before_failed) < MIN_SAMPLE:
        return False
    return probability(succeeded, failed, before_succeeded, before_failed) <= MAX_PROBABILITY


def probability(succeeded: int, failed: int, before_succeeded: int, before_failed: int) -> float:
    """The probability of at least ``failed`` failures if both versions fail equally often.

    Sums the hypergeometric distribution, with logarithms, because the factorials of many runs are huge.
    """
    runs, failures = succeeded + failed, failed + before_failed
    total = runs + before_succeeded + before_failed
    ways = _log_choose(total, runs)
    return sum(
        exp(_log_choose(failures, n) + _log_choose(total - failures, runs - n) - ways)
        for n in range(failed, min(runs, failures) + 1)
    )


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
