from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0005_finding_by_words"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="erased_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
