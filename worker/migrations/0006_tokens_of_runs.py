from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0001_initial"),
        ("worker", "0005_memory"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="token",
            field=models.ForeignKey(
                null=True, on_delete=models.SET_NULL, related_name="+", to="registry.token"
            ),
        ),
    ]
