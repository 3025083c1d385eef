from __future__ import annotations

import pytest

from portal.showing.remembering import Remembered

pytestmark = pytest.mark.row("P8")


def test_a_value_is_made_once():
    made, kept = [], Remembered(2)
    for _ in range(2):
        assert kept.get("a", lambda: made.append(1) or "A") == "A"
    assert made == [1]


def test_the_first_made_is_forgotten_first():
    kept = Remembered(2)
    for key in "abc":
        kept.get(key, lambda key=key: key)
    assert [kept.get(key, lambda: "again") for key in "cb"] == ["c", "b"]
    assert kept.get("a", lambda: "again") == "again"
