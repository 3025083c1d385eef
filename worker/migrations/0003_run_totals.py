from django.db import migrations, models

import registry.models.fields


class Migration(migrations.Migration):

    dependencies = [("worker", "0002_service_process")]

    operations = [
        migrations.CreateModel(
            name='RunTotals',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('until', models.DateTimeField()),
                ('sums', registry.models.fields.DocumentField(default=list)),
            ],
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='run_finished'),
        ),
    ]
