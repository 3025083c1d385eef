from django.db import migrations, models

REASONS = [
    ("no_sandbox", "No Sandbox"),
    ("network", "Network"),
    ("limit", "Limit"),
    ("dependencies", "Dependencies"),
    ("error", "Error"),
]
STATES = [("waiting", "Waiting"), ("passed", "Passed"), ("failed", "Failed"), ("skipped", "Skipped")]


def rename_loaded(apps, _schema):
    loads = apps.get_model("worker", "ModuleLoad").objects
    loads.filter(state="loaded").update(state="passed")
    loads.filter(state="skipped").update(reason="error")


class Migration(migrations.Migration):

    dependencies = [("worker", "0007_error_groups")]

    operations = [
        migrations.AddField(
            model_name="moduleload",
            name="reason",
            field=models.CharField(blank=True, choices=REASONS, max_length=16),
        ),
        migrations.AlterField(
            model_name="moduleload",
            name="state",
            field=models.CharField(choices=STATES, default="waiting", max_length=8),
        ),
        migrations.RunPython(rename_loaded, migrations.RunPython.noop),
    ]
