from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0036_term_counts'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('merged_into', None), ('purged_at', None), ('search_scope', '')), fields=['team'], name='skill_unlisted'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('for_agents', True), ('is_bundled', False), ('latest__isnull', False), ('merged_into', None), ('purged_at', None)), fields=['team', 'slug', 'created_at'], name='skill_recommended'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('for_agents', True), ('is_bundled', False), ('latest__isnull', False), ('merged_into', None), ('purged_at', None), models.Q(('paths', []), _negated=True)), fields=['team'], name='skill_with_paths'),
        ),
    ]
