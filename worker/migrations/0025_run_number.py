"""Adds an index of run numbers, by which the command palette finds runs."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("worker", "0024_schedule_files")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["number", "-id"], condition=Q(number__gt=0), name="run_number"),
        ),
    ]
