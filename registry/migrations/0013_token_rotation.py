import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0012_delete_old_sessions")]

    operations = [
        migrations.AddField("token", "previous_hash", models.CharField(max_length=64, null=True, unique=True)),
        migrations.AddField("token", "previous_expires_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "token",
            "last_used_address",
            models.CharField(blank=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.AddField(
            "token",
            "revoked_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
