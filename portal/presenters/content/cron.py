"""Cron expressions in words, for the forms that people use most."""

from __future__ import annotations

import re

from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.presenters.content.punctuation import listed
from worker.schedules.timing import is_cron

_MAX_TIMES = 4
_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NUMBER, _STEP, _LIST = re.compile(r"\d{1,2}"), re.compile(r"\*/(\d{1,2})"), re.compile(r"\d{1,2}(,\d{1,2})*")


def cron_words(expression: str) -> str:
    """The expression in words, such as "Monday to Friday at 09:00"; "" for invalid expressions and for
    forms without words.
    """
    if not is_cron(str(expression)):
        return ""
    minute, hour, day, month, weekday = str(expression).upper().split()
    if [day, month, weekday] == ["*", "*", "*"] and (repeated := _repeated(minute, hour)):
        return repeated
    if not (times := _times(minute, hour)):
        return ""
    if [day, month] == ["*", "*"]:
        return _on_weekdays(weekday, times)
    return _on_date(day, month, times) if weekday == "*" and _NUMBER.fullmatch(day) else ""


def _repeated(minute: str, hour: str) -> str:
    """Words for a time that repeats each minute or hour; "" for others, also for uneven steps."""
    if hour == "*" and (step := _step(minute, 60)):
        return ngettext("Every minute", "Every %(count)d minutes", step) % {"count": step}
    if _NUMBER.fullmatch(minute) and (step := _step(hour, 24)):
        every = _("Every hour at minute %(minute)s")
        text = every if step == 1 else _("Every %(count)s hours from midnight, at minute %(minute)s")
        return text % {"count": step, "minute": int(minute)}
    return ""


def _step(field: str, whole: int) -> int:
    """The step of ``*`` or ``*/n``; 0 for others and for steps that do not divide ``whole``."""
    if field == "*":
        return 1
    found = _STEP.fullmatch(field)
    step = int(found[1]) if found else 0
    return step if step and whole % step == 0 and step < whole else 0


def _times(minute: str, hour: str) -> str:
    hours = [int(each) for each in hour.split(",")] if _LIST.fullmatch(hour) else []
    if not _NUMBER.fullmatch(minute) or not 0 < len(hours) <= _MAX_TIMES:
        return ""
    return listed([f"{each:02}:{int(minute):02}" for each in sorted(set(hours))])


def _on_weekdays(field: str, times: str) -> str:
    if field == "*":
        return _("Every day at %(times)s") % {"times": times}
    first, dash, last = field.partition("-")
    names = [_weekday(each) for each in ((first, last) if dash else field.split(","))]
    if not all(names):
        return ""
    days = _("%(first)s to %(last)s") % {"first": names[0], "last": names[1]} if dash else listed(names)
    return _("%(days)s at %(times)s") % {"days": days, "times": times}


def _weekday(text: str) -> str:
    """The name of a day from 0 to 7 or SUN to SAT; "" for anything else."""
    number = _NAMES.index(text) if text in _NAMES else int(text) if _NUMBER.fullmatch(text) else 8
    return str(WEEKDAYS[(number - 1) % 7]) if number < 8 else ""


def _on_date(day: str, month: str, times: str) -> str:
    parts = {"day": int(day), "times": times}
    if month == "*":
        return _("On day %(day)s of each month at %(times)s") % parts
    if not _NUMBER.fullmatch(month) or int(month) not in MONTHS:
        return ""
    return _("Every year on %(month)s %(day)s at %(times)s") % {**parts, "month": MONTHS[int(month)]}
