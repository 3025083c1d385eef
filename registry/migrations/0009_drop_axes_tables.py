from django.db import migrations

_TABLES = ("axes_accessattemptexpiration", "axes_accessattempt", "axes_accessfailurelog", "axes_accesslog")


class Migration(migrations.Migration):
    """Drops the failed sign-ins, with user names and addresses, that django-axes stored before."""

    dependencies = [("registry", "0008_failed_sign_ins")]

    operations = [
        migrations.RunSQL([f"DROP TABLE IF EXISTS {table}" for table in _TABLES], migrations.RunSQL.noop)
    ]
