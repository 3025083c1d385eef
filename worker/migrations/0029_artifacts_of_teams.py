import django.db.models.deletion
from django.db import migrations, models


def set_teams(apps, _schema_editor):
    run = apps.get_model("worker", "Run").objects.filter(pk=models.OuterRef("run"))
    apps.get_model("worker", "Artifact").objects.update(team_key=models.Subquery(run.values("team")[:1]))


class Migration(migrations.Migration):

    dependencies = [
        ('worker', '0028_readers_of_daily_runs'),
    ]

    operations = [
        migrations.AddField(
            model_name='artifact',
            name='team_key',
            field=models.BigIntegerField(null=True),
        ),
        migrations.RunPython(set_teams, migrations.RunPython.noop, elidable=True),
        migrations.AlterField(
            model_name='failurecount',
            name='group',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='counts', to='worker.errorgroup'),
        ),
        migrations.AddIndex(
            model_name='artifact',
            index=models.Index(fields=['team_key', 'size'], name='artifact_team'),
        ),
        migrations.AddIndex(
            model_name='failurecount',
            index=models.Index(fields=['group', 'version_number', 'count'], name='failure_count_group'),
        ),
    ]
