"""Schedules of Alice, and a clock that tests move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)  # a Monday


class Clock:
    def __init__(self) -> None:
        self.now = START

    def pass_time(self, **time: float) -> None:
        self.now += timedelta(**time)

    def fire(self, **time: float) -> None:
        """Lets the time pass, then plans and starts what is due, as the loop does."""
        from worker.service.schedule_loop import fire_due

        self.pass_time(**time)
        fire_due(self.now)


@pytest.fixture
def schedule_clock(monkeypatch) -> Clock:
    """The clock of schedules, which stands still unless a test moves it."""
    clock = Clock()
    monkeypatch.setattr("worker.core.clock.now", lambda: clock.now)
    return clock


@pytest.fixture
def make_schedule(schedule_clock, alice):
    """``make_schedule(hello, inputs…)``: a schedule of Alice, or of ``by``, that is due every minute."""
    from registry.identity.actors import Actor
    from worker.protocols.call import Request
    from worker.schedules.change import ScheduleOptions, create

    def make(hello, inputs=None, *, by=None, **more):
        if not {"cron", "every_s", "at"} & set(more):
            more["cron"] = "* * * * *"
        options = ScheduleOptions(request=Request(inputs=inputs or {}), **more)
        return create(hello.skill, options, by or Actor(user=alice))

    return make


@pytest.fixture
def outcomes():
    """``outcomes(schedule)``: state and problem code of each firing, oldest first."""

    def of(schedule):
        rows = schedule.firings.order_by("due")
        return [(row.state, row.problem["code"] if row.problem else "") for row in rows]

    return of
