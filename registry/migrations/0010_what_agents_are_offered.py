from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    skills = apps.get_model("registry", "Skill").objects.all()
    skills.filter(source="bundled").update(is_bundled=True)
    latest = skills.filter(latest__isnull=False).values_list("pk", "latest__manifest")
    for key, manifest in latest.iterator():
        if manifest.get("when_to_use"):
            skills.filter(pk=key).update(when_to_use=manifest["when_to_use"])


class Migration(migrations.Migration):
    dependencies = [("registry", "0009_abilities")]

    operations = [
        migrations.AddField("skill", "is_bundled", models.BooleanField(default=False)),
        migrations.AddField("skill", "when_to_use", models.TextField(blank=True)),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "publisher",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscribers",
                        to="registry.team",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="registry.team",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["team", "publisher"], name="one_subscription_a_publisher"
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(team=models.F("publisher")), name="none_subscribes_to_itself"
                    ),
                ],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
