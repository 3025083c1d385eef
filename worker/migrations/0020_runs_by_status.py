from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("worker", "0019_undecided_approvals")]

    operations = [
        migrations.AddIndex("run", models.Index(fields=["status", "-id"], name="run_status")),
    ]
