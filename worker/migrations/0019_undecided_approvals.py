from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("worker", "0018_saved_run_views")]

    operations = [
        migrations.AddIndex(
            "approval",
            models.Index(
                fields=["id"], name="approval_undecided", condition=models.Q(("decided_at", None))
            ),
        ),
    ]
