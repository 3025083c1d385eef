from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone


@pytest.fixture
def past_run(hello, alice, team):
    """``past_run(days, …)``: an ended run of that age, counted per day, of Alice and her team."""
    from tests.factories.runs import make_run

    def make(days, *, version=hello, by=alice, **fields):
        at = timezone.now() - timedelta(days=days, minutes=5)
        times = {
            "created_at": at,
            "run_after": at,
            "started_at": at,
            "finished_at": at + timedelta(seconds=2),
        }
        return make_run(version, by, fields.pop("team", team), **(times | {"is_counted": True} | fields))

    return make
