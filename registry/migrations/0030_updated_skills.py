from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0029_resumable_uploads")]

    operations = [
        migrations.AddIndex(
            "skill", models.Index(fields=["updated_at", "uid"], name="skill_updated")
        ),
    ]
