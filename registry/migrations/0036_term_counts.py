import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0035_lists_of_teams'),
    ]

    operations = [
        migrations.AlterField(
            model_name='termscope',
            name='term',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='registry.term'),
        ),
        migrations.AddIndex(
            model_name='termscope',
            index=models.Index(fields=['term', 'scope', 'df'], name='term_scope_df'),
        ),
    ]
