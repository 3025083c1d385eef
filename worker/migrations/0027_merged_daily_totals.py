"""Merges the totals of each skill, day and version into one row with the runs of each outcome."""

from collections import Counter
from importlib import import_module
from itertools import groupby

from django.db import migrations

TOTAL_KEY = -1
_SKILLS_AT_ONCE = 50
_DAY = ("skill_id", "day", "version_number")
_by_outcome = import_module("worker.migrations.0022_daily_run_totals")
_durations = import_module("worker.migrations.0023_rounded_durations")


def merge_outcomes(apps, schema_editor):
    daily = apps.get_model("worker", "DailyRuns")
    totals = daily.objects.filter(team_key=TOTAL_KEY)
    skills = list(totals.order_by("skill_id").values_list("skill_id", flat=True).distinct())
    for first in range(0, len(skills), _SKILLS_AT_ONCE):
        own = totals.filter(skill_id__in=skills[first : first + _SKILLS_AT_ONCE])
        rows = list(own.order_by(*_DAY))
        own.delete()
        merged = [_merged(daily, key, group) for key, group in groupby(rows, key=_day_of)]
        daily.objects.bulk_create(merged, batch_size=1000)


def split_outcomes(apps, schema_editor):
    """Restores the totals of earlier releases from the rows of teams and callers."""
    _by_outcome.remove_totals(apps, schema_editor)
    _by_outcome.add_totals(apps, schema_editor)
    _durations.merge_totals(apps, schema_editor)


def _day_of(row):
    return tuple(getattr(row, name) for name in _DAY)


def _merged(daily, key, rows):
    total = daily(
        **dict(zip(_DAY, key, strict=True)),
        team_key=TOTAL_KEY, caller_key=TOTAL_KEY, status="", failure_code="",
    )  # fmt: skip
    durations = Counter()
    for row in rows:
        total.runs += row.runs
        if row.runs:
            codes = total.outcomes.setdefault(row.status, {})
            codes[row.failure_code] = codes.get(row.failure_code, 0) + row.runs
        durations.update(row.durations)
        total.cpu_ms += row.cpu_ms
        total.peak_cpu_ms = max(total.peak_cpu_ms, row.peak_cpu_ms)
        total.peak_memory = max(total.peak_memory, row.peak_memory)
        for host, (allowed, refused) in row.hosts.items():
            before = total.hosts.get(host, (0, 0))
            total.hosts[host] = [before[0] + allowed, before[1] + refused]
    total.durations = dict(durations)
    return total


class Migration(migrations.Migration):
    dependencies = [("worker", "0026_daily_outcomes")]

    operations = [migrations.RunPython(merge_outcomes, split_outcomes)]
