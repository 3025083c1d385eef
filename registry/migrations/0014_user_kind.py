from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0013_token_rotation")]

    operations = [
        migrations.AddField(
            "user",
            "kind",
            models.CharField(
                choices=[("person", "Person"), ("service", "Service account")],
                default="person",
                max_length=7,
            ),
        ),
    ]
