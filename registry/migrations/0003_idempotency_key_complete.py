from django.db import migrations, models


class Migration(migrations.Migration):
    """Deletes the rows of unfinished requests. Since this version, only finished requests have a row."""

    dependencies = [("registry", "0002_rate_count")]

    operations = [
        migrations.RunSQL("DELETE FROM registry_idempotencykey WHERE status IS NULL", migrations.RunSQL.noop),
        migrations.AlterField("idempotencykey", "status", models.PositiveSmallIntegerField()),
        migrations.AlterField("idempotencykey", "body", models.BinaryField()),
    ]
