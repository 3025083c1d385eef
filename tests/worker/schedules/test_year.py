"""A simulated year: clocks change and jump, and the firing loop is killed at random and doubled.

``SCHEDULES=1000`` simulates as many schedules; ``make soak`` does.
"""

import os
import random
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile

import pytest

from tests.factories.runs import make_run
from worker.models import FiringState, Run, Schedule, ScheduleFiring
from worker.schedules import fire, plan
from worker.schedules.timing import timing_of

COUNT = int(os.environ.get("SCHEDULES", "50"))
START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe")
CRONS = ("30 2 * 3,11 0", "15 1 1 * *", "45 2 8-14 3 *", "30 1 25-31 10 *", "0 0 1 */2 *")


class Killed(BaseException):
    """The firing loop is killed here."""


def make_schedules(draw, version, user, team):
    rows = []
    for number in range(COUNT):
        timing = draw.choice(
            [
                {"kind": "cron", "cron": draw.choice(CRONS)},
                {"kind": "cron", "cron": draw.choice(CRONS)},
                {"kind": "interval", "every_s": draw.randrange(500, 2000) * 3600},
                {"kind": "once", "at": START + timedelta(hours=draw.randrange(1, 8000))},
            ]
        )
        schedule = Schedule(
            name=f"schedule {number}",
            skill=version.skill,
            skill_label=str(version.skill),
            skill_team=version.skill.team,
            channel="latest",
            run_as=user,
            team=team,
            request={},
            starts_at=START,
            time_zone=draw.choice(ZONES),
            jitter_s=draw.choice((0, 0, 300)),
            overlap=draw.choice(("skip", "queue", "cancel", "parallel")),
            catch_up=draw.choice(("none", "last", "all")),
            catch_up_limit=2,
            **timing,
        )
        schedule.next_at = timing_of(schedule).next_after(START)
        rows.append(schedule)
    return Schedule.objects.bulk_create(rows)


def start(draw, version, team, run_keys, now, firing):
    """Creates the run as ``request_run`` does, once per key; killed before or after, or while another loop
    runs.
    """
    schedule, chance = firing.schedule, draw.random()
    if chance < 0.03:
        raise Killed
    if chance > 0.9:
        plan.plan_due(now)
        fire.fire_pending(now, partial(start, random.Random(1), version, team, run_keys, now))
    key = f"schedule:{schedule.uid}:{firing.due:%Y%m%dT%H%M%SZ}"
    run = Run.objects.filter(idempotency_key=key).first()
    if run is None:
        run_keys[key] += 1
        status = draw.choice(("succeeded", "succeeded", "running"))
        run = make_run(
            version, schedule.run_as, team, idempotency_key=key, status=status, number=0, started_at=None
        )
    if chance < 0.06:
        raise Killed
    return run


def clock_moments(draw):
    """The times of the loop's passes: soon after something is due, after outages, after jumps back."""
    now = START
    while now < END:
        pending = ScheduleFiring.objects.filter(state=FiringState.PENDING)
        times = [*Schedule.objects.due().values_list("next_at", flat=True)]
        times += pending.values_list("fire_at", flat=True)
        due = [time for time in times if time]
        if not due:
            return
        chance = draw.random()
        if chance < 0.01:
            yield now - timedelta(hours=draw.randrange(1, 30))
        elif chance < 0.04:
            now += timedelta(hours=draw.randrange(1, 500))
        now = max(min(due), now) + timedelta(seconds=draw.randrange(61))
        yield now


@pytest.mark.row("B7")
@pytest.mark.full
@pytest.mark.slow("simulates a year")
@pytest.mark.django_db
def test_every_due_time_of_a_year_is_fired_once_or_accounted_for(hello, alice, team):
    seed = os.environ.get("TEST_SEED", "") or str(random.randrange(10**6))
    print(f"seed {seed}")
    draw = random.Random(seed)
    schedules = make_schedules(draw, hello, alice, team)
    run_keys: Counter[str] = Counter()
    last = START
    for now in clock_moments(draw):
        with suppress(Killed):
            plan.plan_due(now)
            fire.fire_pending(now, partial(start, draw, hello, team, run_keys, now))
        if draw.random() < 0.2:
            Run.objects.filter(status="running").update(status="succeeded")
        last = max(last, now)
    settle(partial(start, random.Random(1), hello, team, run_keys), last)
    assert max(run_keys.values()) == 1
    for schedule in schedules:
        check(schedule, last)
    states = Counter(ScheduleFiring.objects.values_list("state", flat=True))
    assert {"started", "missed"} <= set(states), states


def settle(start_at, now):
    """Ends all runs and lets all leases expire, until nothing waits."""
    for _ in range(500):
        Run.objects.filter(status="running").update(status="succeeded")
        if not ScheduleFiring.objects.filter(state=FiringState.PENDING).exists():
            return
        now += timedelta(seconds=400)
        with suppress(Killed):
            fire.fire_pending(now, partial(start_at, now))
    raise AssertionError("firings wait forever")


def check(schedule, last):
    """Each due time has exactly one firing, and each started one exactly one run."""
    expected = list(takewhile(lambda due: due <= last, timing_of(schedule).after(START)))
    accounted = []
    for row in schedule.firings.order_by("due"):
        covered = [due for due in expected if row.due <= due <= row.last_due]
        assert len(covered) == row.count, (schedule.cron, row)
        accounted += covered
        assert (row.run is not None) is (row.state == FiringState.STARTED)
        if row.state == FiringState.STARTED:
            assert row.run.idempotency_key == f"schedule:{schedule.uid}:{row.due:%Y%m%dT%H%M%SZ}"
        else:
            assert row.problem["code"]
    assert accounted == expected, schedule.cron
