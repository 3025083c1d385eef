from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0007_import_attempts'),
    ]

    operations = [
        migrations.AddField(
            model_name='suppression',
            name='digest',
            field=models.CharField(blank=True, max_length=71),
        ),
        migrations.AlterField(
            model_name='suppression',
            name='at',
            field=models.DateTimeField(),
        ),
    ]
