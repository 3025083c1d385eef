from __future__ import annotations

import pytest


@pytest.fixture
def past_run(hello, alice, team):
    """``past_run(days, …)``: an ended run of that age, counted per day, of Alice and her team."""
    from tests.factories.runs import make_past_run

    def make(days, *, version=hello, by=alice, **fields):
        return make_past_run(version, by, fields.pop("team", team), days, **fields)

    return make
