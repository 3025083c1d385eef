from django.db import migrations


class Migration(migrations.Migration):
    """Deletes the sessions of Django's own table, which contain addresses. The site no longer reads it."""

    dependencies = [("registry", "0011_user_sessions"), ("sessions", "0001_initial")]

    operations = [migrations.RunSQL("DELETE FROM django_session", migrations.RunSQL.noop)]
