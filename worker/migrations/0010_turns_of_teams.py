from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('worker', '0009_team_limits'),
    ]

    operations = [
        migrations.DeleteModel(name='TeamTurn'),
        migrations.CreateModel(
            name='TeamTurn',
            fields=[
                ('team', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ('served_at', models.DateTimeField()),
            ],
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('depth', 0), ('status', 'running')), fields=['team'], name='run_running'),
        ),
    ]
