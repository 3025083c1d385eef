from django.db import migrations, models

from registry.models.identity import new_uid


def give_ids(apps, schema_editor):
    for entry in apps.get_model("registry", "GlossaryEntry").objects.filter(uid=None):
        entry.uid = new_uid()
        entry.save(update_fields=["uid"])


class Migration(migrations.Migration):
    dependencies = [("registry", "0015_rules")]

    operations = [
        migrations.AddField(
            model_name="glossaryentry",
            name="uid",
            field=models.CharField(editable=False, max_length=26, null=True),
        ),
        migrations.RunPython(give_ids, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="glossaryentry",
            name="uid",
            field=models.CharField(default=new_uid, editable=False, max_length=26, unique=True),
        ),
    ]
