"""Due times of cron expressions (with daylight saving time), intervals and single times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from worker.models import Schedule, ScheduleKind
from worker.schedules import errors

MIN_INTERVAL_S = 60
MAX_INTERVAL_S = 366 * 24 * 3600
MAX_JITTER_S = 24 * 3600
NEXT_RUNS = 10
_FIELDS = 5  # number of fields of a cron expression; a sixth would mean seconds
_MAX_CRON = 100  # characters
_WRONG_LENGTH, _TOO_LONG = "Wrong number of fields", "Too long"
_REASONS = {  # by the message of the parser or of ``_cron_error``
    _WRONG_LENGTH: _("five fields are required"),
    _TOO_LONG: _("it has more than 100 characters"),
    "Bad minute": _("the minute is not valid (must be 0 to 59)"),
    "Bad hour": _("the hour is not valid (must be 0 to 23)"),
    "Bad day-of-month": _("the day of month is not valid (must be 1 to 31 and exist in the month)"),
    "Bad month": _("the month is not valid (must be 1 to 12, or JAN to DEC)"),
    "Bad day-of-week": _("the day of week is not valid (must be 0 to 7, or SUN to SAT)"),
}


@dataclass(frozen=True)
class Timing:
    """The timing of a schedule. Cron expressions use the local time of ``time_zone``.

    Changes to daylight saving time work as in Debian's cron. A run at a fixed time is due right after the
    change if its hour is skipped, and once if its hour occurs twice. An hourly run is due in each hour that
    really occurs.
    """

    kind: str
    starts_at: datetime  # intervals are counted from this time
    cron: str = ""
    every_s: int | None = None
    at: datetime | None = None
    time_zone: str = "UTC"

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yields the due times after ``moment`` in UTC, oldest first."""
        if self.kind == ScheduleKind.CRON:
            yield from self._cron_after(moment)
        elif self.kind == ScheduleKind.INTERVAL:
            yield from self._interval_after(moment)
        elif self.at and self.at > moment:
            yield self.at.astimezone(UTC)

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self.after(moment), None)

    def next_runs(self, moment: datetime, count: int = NEXT_RUNS) -> list[datetime]:
        return list(islice(self.after(moment), count))

    def _cron_after(self, moment: datetime) -> Iterator[datetime]:
        last = moment
        for local in CronSim(self.cron, moment.astimezone(ZoneInfo(self.time_zone))):
            due = local.astimezone(UTC)
            if due > last:  # when clocks are set back, an hour before ``moment`` occurs again
                yield due
                last = due

    def _interval_after(self, moment: datetime) -> Iterator[datetime]:
        assert self.every_s
        step = timedelta(seconds=self.every_s)
        number = max((moment - self.starts_at) // step + 1, 1)
        while True:
            yield (self.starts_at + number * step).astimezone(UTC)
            number += 1


def timing_of(schedule: Schedule) -> Timing:
    return Timing(
        schedule.kind,
        schedule.starts_at,
        schedule.cron,
        schedule.every_s,
        schedule.at,
        schedule.time_zone,
    )


def checked_timing(
    *, now: datetime, cron: str = "", every_s: int | None = None, at: datetime | None = None, time_zone: str
) -> Timing:
    """The checked timing. Raises SCHEDULE_TIME_REQUIRED unless exactly one of ``cron``, ``every_s`` and
    ``at`` is given.

    Raises SCHEDULE_ZONE_UNKNOWN, SCHEDULE_CRON_INVALID or SCHEDULE_INTERVAL_INVALID for an invalid value, and
    SCHEDULE_NEVER_DUE if no due time is in the future.
    """
    given = [bool(cron), every_s is not None, at is not None]
    if sum(given) != 1:
        raise errors.SCHEDULE_TIME_REQUIRED.refusal().at("cron")
    if time_zone not in time_zones():
        raise errors.SCHEDULE_ZONE_UNKNOWN.refusal(zone=time_zone[:64]).at("time_zone")
    kind = (ScheduleKind.CRON, ScheduleKind.INTERVAL, ScheduleKind.ONCE)[given.index(True)]
    field = ("cron", "every_s", "at")[given.index(True)]
    if cron:
        cron = _checked_cron(cron)
    if every_s is not None and not MIN_INTERVAL_S <= every_s <= MAX_INTERVAL_S:
        raise errors.SCHEDULE_INTERVAL_INVALID.refusal(least=MIN_INTERVAL_S, most=MAX_INTERVAL_S).at(field)
    timing = Timing(kind, now.replace(microsecond=0), cron, every_s, at, time_zone)
    if timing.next_after(now) is None:
        raise errors.SCHEDULE_NEVER_DUE.refusal().at(field)
    return timing


@cache
def time_zones() -> frozenset[str]:
    """The names of the IANA time zones, without ``localtime``. Read once per process."""
    return frozenset(name for name in available_timezones() if name != "localtime")


def is_cron(text: str) -> bool:
    """Whether the text is a valid expression of five fields."""
    return not _cron_error(" ".join(text.split()))


def _checked_cron(text: str) -> str:
    """The expression with single spaces. Raises SCHEDULE_CRON_INVALID unless it is a valid expression of five
    fields.
    """
    expression = " ".join(text.split())
    if error := _cron_error(expression):
        reason = gettext(_REASONS.get(error, error))
        raise errors.SCHEDULE_CRON_INVALID.refusal(cron=expression[:_MAX_CRON], reason=reason).at("cron")
    return expression


def _cron_error(expression: str) -> str:
    """The message about the expression, a key of ``_REASONS`` or another one of the parser; "" if it is
    valid.
    """
    if len(expression.split()) != _FIELDS:
        return _WRONG_LENGTH
    if len(expression) > _MAX_CRON:
        return _TOO_LONG
    try:
        CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
    except (CronSimError, ValueError, AssertionError) as error:
        return str(error) or "Bad cron expression"
    return ""
