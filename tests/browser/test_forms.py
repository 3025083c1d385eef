"""The forms in which a page is used."""

from __future__ import annotations

from dataclasses import astuple
from itertools import combinations

import pytest

from tests.browser.forms import FACTORS, FIRST_ROWS, ROWS, forms_of

pytestmark = pytest.mark.row("P8", "P11")
SEEDS = [f"{number:06x}" for number in range(50)]


def test_six_forms_contain_each_pair_of_values_of_two_factors():
    for seed in SEEDS:
        rows = [astuple(form) for form in forms_of("page", seed)]
        assert len(rows) == ROWS
        for first, second in combinations(range(FACTORS), 2):
            assert len({(row[first], row[second]) for row in rows}) == 4, seed


def test_first_two_forms_contain_both_values_of_each_factor():
    for seed in SEEDS:
        rows = [astuple(form) for form in forms_of("page", seed)[:FIRST_ROWS]]
        assert all(len(set(values)) == 2 for values in zip(*rows, strict=True)), seed


def test_seeds_draw_each_of_the_32_combinations():
    assert len({form for seed in SEEDS for form in forms_of("page", seed)}) == 2**FACTORS
