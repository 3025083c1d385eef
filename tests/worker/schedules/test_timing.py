"""Due times of cron expressions, intervals and single times, also where clocks change."""

import itertools
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from registry.packages.problems import Refusal
from worker.schedules.timing import Timing, checked_timing

pytestmark = pytest.mark.row("B7")
START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Shanghai",
    "Australia/Lord_Howe",
    "America/Santiago",
)


def times(timing, start=START, end=END):
    found = []
    for moment in timing.after(start):
        if moment >= end:
            return found
        found.append(moment)
    return found


def expected_daily(hour, minute, zone):
    """The due times of a daily run: at the first real minute of a skipped hour, at the first of two hours."""
    found, tz = [], ZoneInfo(zone)
    day = date(2025, 12, 31)
    while day < date(2027, 1, 3):
        local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=tz)
        while local.astimezone(UTC).astimezone(tz).replace(tzinfo=None) != local.replace(tzinfo=None):
            local = (local.replace(tzinfo=None) + timedelta(minutes=1)).replace(tzinfo=tz)
        moment = local.astimezone(UTC)
        if START < moment < END:
            found.append(moment)
        day += timedelta(days=1)
    return found


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("hour", "minute"), [(1, 45), (2, 0), (2, 15), (2, 30), (3, 0), (0, 0), (12, 5)])
def test_daily_run_is_due_once_a_day_all_year(zone, hour, minute):
    timing = Timing("cron", START, cron=f"{minute} {hour} * * *", time_zone=zone)
    assert times(timing) == expected_daily(hour, minute, zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", ["45 1 * * *", "*/20 * * * *", "30 */2 * * *", "0,30 1-3 * * 0"])
def test_due_times_do_not_depend_on_where_counting_begins(zone, cron):
    timing = Timing("cron", START, cron=cron, time_zone=zone)
    whole = times(timing)
    assert whole == sorted(set(whole))
    around = [each for each in whole if each.month in (3, 4, 9, 10, 11)][::7]
    for moment in around[:150]:
        later = whole[whole.index(moment) + 1]
        for offset in (timedelta(), timedelta(seconds=1), (later - moment) / 2):
            assert timing.next_after(moment + offset) == later


def test_time_that_occurs_twice_is_due_once_wherever_counting_begins():
    timing = Timing("cron", START, cron="30 1 * * *", time_zone="America/New_York")
    first, next_day = datetime(2026, 11, 1, 5, 30, tzinfo=UTC), datetime(2026, 11, 2, 6, 30, tzinfo=UTC)
    for minutes in range(0, 100, 10):
        assert timing.next_after(first + timedelta(minutes=minutes)) == next_day


def test_interval_counts_elapsed_time():
    timing = Timing("interval", START, every_s=7 * 3600, time_zone="Europe/Berlin")
    found = times(timing)
    assert {after - before for before, after in itertools.pairwise(found)} == {timedelta(hours=7)}
    assert found[0] == START + timedelta(hours=7)


def test_single_time_is_due_once():
    at = datetime(2026, 6, 1, 10, tzinfo=ZoneInfo("Asia/Shanghai"))
    timing = Timing("once", START, at=at)
    assert timing.next_runs(START) == [datetime(2026, 6, 1, 2, tzinfo=UTC)]
    assert timing.next_after(at) is None


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({}, "SCHEDULE_TIME_REQUIRED", "cron"),
        ({"cron": "* * * * *", "every_s": 60}, "SCHEDULE_TIME_REQUIRED", "cron"),
        ({"cron": "* * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "* * * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "61 * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "0 0 31 2 *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "\ud800 * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "*/0 * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "5-1 * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "L/5 * * * *"}, "SCHEDULE_CRON_INVALID", "cron"),
        ({"cron": "* * L/5 * 1#3"}, "", ""),
        ({"every_s": 59}, "SCHEDULE_INTERVAL_INVALID", "every_s"),
        ({"every_s": 0}, "SCHEDULE_INTERVAL_INVALID", "every_s"),
        ({"at": START}, "SCHEDULE_NEVER_DUE", "at"),
        ({"cron": "* * * * *", "time_zone": "Mars/Olympus"}, "SCHEDULE_ZONE_UNKNOWN", "time_zone"),
    ],
)
def test_invalid_timing_is_refused_with_its_place(given, code, path):
    given = {"time_zone": "UTC"} | given
    if not code:
        assert checked_timing(now=START, **given).next_after(START)
        return
    with pytest.raises(Refusal) as refused:
        checked_timing(now=START, **given)
    assert (refused.value.code, refused.value.problems[0].path) == (code, path)


def test_each_defect_of_an_expression_has_its_own_reason():
    reasons = set()
    for cron in ("* * * *", f"{','.join(['1'] * 50)} * * * *", "61 * * * *"):
        with pytest.raises(Refusal) as refused:
            checked_timing(now=START, cron=cron, time_zone="UTC")
        reasons.add(refused.value.problems[0].params["reason"])
    assert len(reasons) == 3
