from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0014_user_kind")]

    operations = [
        migrations.AddField("team", "archived_at", models.DateTimeField(blank=True, null=True)),
    ]
