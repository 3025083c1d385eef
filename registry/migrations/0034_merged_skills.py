"""Replaces the index of the skills that skills were merged into by one without the skills that were not merged.

The index is dropped by its name, because Django would copy the whole table on SQLite.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

_INDEX = "registry_skill_merged_into_id_b8f7d380"
_DROP = f"DROP INDEX IF EXISTS {_INDEX}"
_CREATE = f"CREATE INDEX {_INDEX} ON registry_skill (merged_into_id)"
_FIELD = models.ForeignKey(
    db_index=False,
    null=True,
    on_delete=django.db.models.deletion.SET_NULL,
    related_name="merged",
    to="registry.skill",
)


class Migration(migrations.Migration):
    dependencies = [("registry", "0033_held_versions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(_DROP, _CREATE)],
            state_operations=[migrations.AlterField("skill", "merged_into", _FIELD)],
        ),
        migrations.AddIndex(
            "skill",
            models.Index(fields=["merged_into"], condition=Q(merged_into__isnull=False), name="skill_merged"),
        ),
    ]
