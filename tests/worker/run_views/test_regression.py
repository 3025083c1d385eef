"""The test that marks a version as worse than its predecessor."""

from __future__ import annotations

from math import comb

import pytest

from worker.run_views.regression import is_worse, probability

pytestmark = pytest.mark.row("P6")


@pytest.mark.parametrize("counts", [(11, 9, 19, 1), (20, 0, 0, 20), (0, 20, 20, 0), (300, 30, 500, 40)])
def test_probability_is_the_sum_of_the_hypergeometric_distribution(counts):
    succeeded, failed, _before_succeeded, before_failed = counts
    runs, failures, total = succeeded + failed, failed + before_failed, sum(counts)
    ways = [
        comb(failures, n) * comb(total - failures, runs - n) for n in range(failed, min(runs, failures) + 1)
    ]
    assert probability(*counts) == pytest.approx(sum(ways) / comb(total, runs))


def test_version_is_worse_only_with_enough_runs_and_a_clear_difference():
    assert is_worse(11, 9, 19, 1)
    assert not is_worse(15, 5, 19, 1)  # 9 %
    assert not is_worse(19, 1, 11, 9)  # better
    assert not is_worse(0, 19, 19, 1)
    assert not is_worse(0, 20, 19, 0)
    assert is_worse(900_000, 100_000, 910_000, 90_000)
