import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0037_listing_indexes'),
        ('worker', '0029_artifacts_of_teams'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='errorgroup',
            name='error_group_skill',
        ),
        migrations.AlterField(
            model_name='errorgroup',
            name='skill',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='error_groups', to='registry.skill'),
        ),
        migrations.AddIndex(
            model_name='errorgroup',
            index=models.Index(fields=['skill', '-last_seen', '-uid'], name='error_group_skill'),
        ),
    ]
