"""Rounds durations to two significant digits, and moves those of each day's totals into one row."""

import json
from collections import Counter, defaultdict

from django.db import migrations

TOTAL_KEY = -1
_AT_ONCE = 5000
_SKILLS_AT_ONCE = 500
_DAY = ("skill_id", "day", "version_number")


def round_durations(apps, schema_editor):
    """Rounds the durations of all rows. A site can have millions, which a bulk update would take long for."""
    rows = apps.get_model("worker", "DailyRuns").objects.order_by("pk").values_list("pk", "durations")
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:_AT_ONCE]):
        last = batch[-1][0]
        changed = [
            (json.dumps(rounded), pk) for pk, durations in batch if (rounded := _rounded(durations)) != durations
        ]
        if changed:
            with schema_editor.connection.cursor() as cursor:
                cursor.executemany("UPDATE worker_dailyruns SET durations = %s WHERE id = %s", changed)


def merge_totals(apps, schema_editor):
    daily = apps.get_model("worker", "DailyRuns")
    totals = daily.objects.filter(team_key=TOTAL_KEY)
    skills = list(totals.order_by("skill_id").values_list("skill_id", flat=True).distinct())
    for first in range(0, len(skills), _SKILLS_AT_ONCE):
        own = totals.filter(skill_id__in=skills[first : first + _SKILLS_AT_ONCE])
        durations = defaultdict(Counter)
        for *day, found in own.values_list(*_DAY, "durations"):
            durations[tuple(day)].update(found)
        own.update(durations={})
        days = (_day_total(daily, day, found) for day, found in durations.items() if found)
        daily.objects.bulk_create(days, batch_size=_AT_ONCE)


def _rounded(durations):
    rounded = Counter()
    for ms, runs in durations.items():
        rounded[f"{float(f'{float(ms):.2g}'):g}"] += runs
    return dict(rounded)


def _day_total(daily, key, durations):
    keys = dict.fromkeys(("team_key", "caller_key"), TOTAL_KEY)
    return daily(**dict(zip(_DAY, key, strict=True)), **keys, status="", durations=dict(durations))


class Migration(migrations.Migration):
    dependencies = [("worker", "0022_daily_run_totals")]

    # Nothing to undo: earlier releases add up the durations of all rows.
    operations = [
        migrations.RunPython(round_durations, migrations.RunPython.noop),
        migrations.RunPython(merge_totals, migrations.RunPython.noop),
    ]
