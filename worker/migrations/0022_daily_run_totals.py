"""Adds the total over all teams and callers to the counts of each skill, day, version and outcome."""

from collections import Counter
from itertools import groupby, islice

from django.db import migrations

TOTAL_KEY = -1
_AT_ONCE = 1000
_GROUP = ("skill_id", "day", "version_number", "status", "failure_code")


def add_totals(apps, schema_editor):
    daily = apps.get_model("worker", "DailyRuns")
    rows = daily.objects.exclude(team_key=TOTAL_KEY).order_by(*_GROUP).iterator(chunk_size=_AT_ONCE)
    totals = (_total(daily, key, group) for key, group in groupby(rows, key=_group_of))
    while batch := list(islice(totals, _AT_ONCE)):
        daily.objects.bulk_create(batch)


def remove_totals(apps, schema_editor):
    apps.get_model("worker", "DailyRuns").objects.filter(team_key=TOTAL_KEY).delete()


def _group_of(row):
    return tuple(getattr(row, name) for name in _GROUP)


def _total(daily, key, rows):
    total = daily(
        **dict(zip(_GROUP, key, strict=True)),
        team_key=TOTAL_KEY, caller_key=TOTAL_KEY, runs=0, cpu_ms=0, peak_cpu_ms=0, peak_memory=0, hosts={},
    )  # fmt: skip
    durations = Counter()
    for row in rows:
        total.runs += row.runs
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
    dependencies = [("worker", "0021_child_runs")]

    operations = [migrations.RunPython(add_totals, remove_totals)]
