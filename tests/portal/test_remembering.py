from __future__ import annotations

from functools import partial

import pytest

from portal.presenters.cache import BoundedCache

pytestmark = pytest.mark.row("P8")


def test_a_value_is_made_once():
    made, kept = [], BoundedCache(2)
    for _ in range(2):
        assert kept.get("a", lambda: made.append(1) or "A") == "A"
    assert made == [1]


def test_the_first_made_is_forgotten_first():
    kept = BoundedCache(2)
    for key in "abc":
        kept.get(key, partial(str, key))
    assert [kept.get(key, lambda: "again") for key in "cb"] == ["c", "b"]
    assert kept.get("a", lambda: "again") == "again"
