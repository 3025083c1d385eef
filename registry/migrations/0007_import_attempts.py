from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0006_erased_people")]

    operations = [
        migrations.AddField(
            model_name="import",
            name="attempt",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
