from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0035_lists_of_teams'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('for_agents', True), ('latest__isnull', False), ('merged_into', None), ('purged_at', None)), fields=['team', 'slug', 'is_bundled', 'created_at', 'usage_count', 'hot_key'], name='skill_recommended'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('for_agents', True), ('latest__isnull', False), ('merged_into', None), ('purged_at', None), models.Q(('paths', []), _negated=True)), fields=['team'], name='skill_with_paths'),
        ),
    ]
