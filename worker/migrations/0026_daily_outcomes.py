"""Adds a column for the outcomes of a day's total, and an index that finds totals."""

from django.db import migrations, models

import registry.models.fields


class Migration(migrations.Migration):
    dependencies = [("worker", "0025_run_number")]

    operations = [
        migrations.AddField(
            model_name="dailyruns",
            name="outcomes",
            field=registry.models.fields.DocumentField(default=dict),
        ),
        migrations.AlterField(
            model_name="dailyruns",
            name="status",
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.AddIndex(
            model_name="dailyruns",
            index=models.Index(fields=["skill", "team_key", "day"], name="daily_runs_total"),
        ),
        migrations.AlterField(
            model_name="dailyruns",
            name="skill",
            field=models.ForeignKey(
                db_index=False,
                on_delete=models.CASCADE,
                related_name="daily_runs",
                to="registry.skill",
            ),
        ),
    ]
