from typing import Any

from django.db import migrations, models


def hide_what_says_so(apps: Any, schema_editor: Any) -> None:
    skills = apps.get_model("registry", "Skill").objects.filter(latest__isnull=False)
    for key, manifest in skills.values_list("pk", "latest__manifest").iterator():
        if not manifest.get("user_invocable", True):
            skills.filter(pk=key).update(for_people=False)


class Migration(migrations.Migration):
    dependencies = [("registry", "0001_initial")]

    operations = [
        migrations.AddField("skill", "for_people", models.BooleanField(default=True)),
        migrations.RunPython(hide_what_says_so, migrations.RunPython.noop),
    ]
