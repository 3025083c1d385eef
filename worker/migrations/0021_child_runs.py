from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("worker", "0020_runs_by_status")]

    operations = [
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["parent", "id"],
                name="run_children",
                condition=models.Q(("parent__isnull", False)),
            ),
        ),
    ]
