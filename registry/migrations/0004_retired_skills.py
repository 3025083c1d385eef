import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0003_sources_channels_findings"),
    ]

    operations = [
        migrations.AddField(
            model_name="skill",
            name="merged_into",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="merged",
                to="registry.skill",
            ),
        ),
        migrations.AddField(
            model_name="skill",
            name="purged_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.DeleteModel(name="Tombstone"),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.CharField(max_length=64)),
                ("digest", models.CharField(db_index=True, max_length=71)),
                ("reason", models.CharField(max_length=500)),
                ("purged_at", models.DateTimeField(auto_now_add=True)),
                (
                    "purged_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "skill",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tombstones",
                        to="registry.skill",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("skill", "number"), name="one_tombstone")],
            },
        ),
    ]
