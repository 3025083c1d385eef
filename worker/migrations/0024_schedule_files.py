from django.db import migrations

import registry.models.fields


class Migration(migrations.Migration):
    dependencies = [("worker", "0023_rounded_durations")]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="files",
            field=registry.models.fields.DocumentField(default=list),
        ),
    ]
