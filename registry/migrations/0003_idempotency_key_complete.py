from django.db import migrations, models


class Migration(migrations.Migration):
    """Only finished requests have a row: those of unfinished ones are deleted."""

    dependencies = [("registry", "0002_rate_count")]

    operations = [
        migrations.RunSQL("DELETE FROM registry_idempotencykey WHERE status IS NULL", migrations.RunSQL.noop),
        migrations.AlterField("idempotencykey", "status", models.PositiveSmallIntegerField()),
        migrations.AlterField("idempotencykey", "body", models.BinaryField()),
    ]
