import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import registry.models.fields
import registry.models.identity
from django.conf import settings
from django.db import migrations, models


_EARLY = """
    ALTER TABLE registry_posting SET (
        autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.05
    )
"""


def vacuum_early(apps, editor):
    """Makes PostgreSQL vacuum postings early. Search reads postings from an index alone, which requires a
    vacuum.
    """
    if editor.connection.vendor == "postgresql":
        editor.execute(_EARLY)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('slug', models.SlugField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('languages', registry.models.fields.DocumentField(default=list)),
                ('failing_triggers_block', models.BooleanField(default=False)),
                ('memory_review', models.CharField(choices=[('none', 'None'), ('team', 'Team memory'), ('all', "Memory of the team and of the run's caller")], default='team', max_length=4)),
            ],
        ),
        migrations.CreateModel(
            name='Term',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', registry.models.fields.BytewiseCharField(max_length=64, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('language', models.CharField(blank=True, max_length=10)),
                ('must_change_password', models.BooleanField(default=False)),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='CanonicalChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('slug', models.CharField(db_index=True, max_length=64)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('change', models.CharField(choices=[('set', 'Set'), ('mirrored', 'Mirrored'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('unset', 'Removed')], max_length=8)),
                ('before', models.CharField(blank=True, max_length=200)),
                ('before_digest', models.CharField(blank=True, max_length=71)),
                ('after', models.CharField(blank=True, max_length=200)),
                ('after_digest', models.CharField(blank=True, max_length=71)),
                ('reason', models.CharField(max_length=500)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='CanonicalUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64)),
                ('caller', models.CharField(max_length=64)),
                ('count', models.PositiveIntegerField(default=0)),
                ('last_kind', models.CharField(choices=[('load', 'Loaded'), ('install', 'Installed'), ('run', 'Run')], max_length=8)),
                ('last_used_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('slug', 'caller'), name='one_canonical_use_per_caller')],
            },
        ),
        migrations.CreateModel(
            name='GlossaryEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('text', models.CharField(max_length=500, unique=True)),
                ('at', models.DateTimeField(auto_now=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(max_length=64)),
                ('key', models.CharField(max_length=200)),
                ('request_digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.BinaryField(null=True)),
                ('content_type', models.CharField(blank=True, max_length=100)),
                ('headers', registry.models.fields.DocumentField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('caller', 'key'), name='one_key_per_caller')],
            },
        ),
        migrations.CreateModel(
            name='Secret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('name', models.CharField(max_length=64)),
                ('sealed', models.TextField()),
                ('set_at', models.DateTimeField()),
                ('set_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='Skill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('slug', models.CharField(max_length=64)),
                ('visibility', models.CharField(choices=[('private', 'Private'), ('site', 'Site'), ('public', 'Public')], default='private', max_length=8)),
                ('source', models.CharField(default='upload', max_length=16)),
                ('origin_path', models.CharField(blank=True, max_length=1000)),
                ('deprecated_at', models.DateTimeField(blank=True, null=True)),
                ('deprecation_reason', models.CharField(blank=True, max_length=500)),
                ('purged_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('when_to_use', models.TextField(blank=True)),
                ('type', models.CharField(blank=True, max_length=16)),
                ('domain', models.CharField(blank=True, max_length=120)),
                ('category', models.CharField(blank=True, max_length=120)),
                ('profile', models.CharField(blank=True, max_length=16)),
                ('tags', registry.models.fields.DocumentField(default=list)),
                ('is_reported', models.BooleanField(default=False)),
                ('for_people', models.BooleanField(default=True)),
                ('name_key', models.CharField(blank=True, db_index=True, max_length=200)),
                ('search_scope', models.CharField(blank=True, max_length=24)),
                ('indexed_as', models.PositiveSmallIntegerField(default=0)),
                ('for_agents', models.BooleanField(default=True)),
                ('abilities', models.PositiveSmallIntegerField(default=0)),
                ('priority', models.FloatField(default=0.5)),
                ('paths', registry.models.fields.DocumentField(default=list)),
                ('is_bundled', models.BooleanField(default=False)),
                ('usage_count', models.PositiveIntegerField(default=0)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('hot_key', models.FloatField(default=0.0)),
                ('merged_into', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='merged', to='registry.skill')),
                ('successor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='Feedback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('version_number', models.CharField(blank=True, max_length=64)),
                ('outcome', models.CharField(choices=[('worked', 'Worked'), ('failed', 'Failed'), ('wrong_skill', 'Wrong skill')], max_length=12)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('caller', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('kind', models.CharField(choices=[('folder', 'Folder'), ('archive', 'Archive'), ('url', 'Address'), ('git', 'Git repository'), ('mcp', 'MCP server')], max_length=8)),
                ('location', models.CharField(max_length=2000)),
                ('options', registry.models.fields.DocumentField(default=dict)),
                ('visibility', models.CharField(blank=True, max_length=8)),
                ('interval_s', models.PositiveIntegerField(null=True)),
                ('next_at', models.DateTimeField(db_index=True, null=True)),
                ('last_revision', models.CharField(blank=True, max_length=100)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='registry.team')),
            ],
        ),
        migrations.AddField(
            model_name='skill',
            name='origin',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='skills', to='registry.source'),
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_until', models.DateTimeField(db_index=True, null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=8)),
                ('problems', registry.models.fields.DocumentField(default=list)),
                ('total', models.PositiveIntegerField(default=0)),
                ('processed', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='registry.source')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='skill',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='skills', to='registry.team'),
        ),
        migrations.CreateModel(
            name='Redirect',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64)),
                ('to', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='redirects', to='registry.skill')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('member', 'Member'), ('maintainer', 'Maintainer'), ('owner', 'Owner')], default='member', max_length=16)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='EventSubscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('event_type', models.CharField(max_length=200)),
                ('mode', models.CharField(choices=[('start', 'Start a run'), ('propose', 'Propose a run')], max_length=8)),
                ('set_at', models.DateTimeField(auto_now=True)),
                ('set_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='event_subscriptions', to='registry.skill')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='event_subscriptions', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('token_name', models.CharField(blank=True, max_length=120)),
                ('action', models.CharField(max_length=64)),
                ('target', models.CharField(max_length=200)),
                ('detail', registry.models.fields.DocumentField(default=dict)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='Posting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('weight', models.SmallIntegerField()),
                ('field_mask', models.SmallIntegerField()),
                ('scope', models.CharField(default='', max_length=24)),
                ('recommendable_team', models.BigIntegerField(null=True)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='postings', to='registry.skill')),
                ('term', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='registry.term')),
            ],
        ),
        migrations.CreateModel(
            name='Misspelling',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', registry.models.fields.BytewiseCharField(max_length=64)),
                ('term', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='registry.term')),
            ],
        ),
        migrations.CreateModel(
            name='TermScope',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(max_length=24)),
                ('df', models.PositiveIntegerField(default=0)),
                ('term', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='registry.term')),
            ],
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('prefix', models.CharField(max_length=12)),
                ('secret_hash', models.CharField(max_length=64, unique=True)),
                ('scopes', registry.models.fields.DocumentField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='Rule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('effect', models.CharField(choices=[('allow', 'Allow'), ('deny', 'Deny')], max_length=5)),
                ('name', models.CharField(max_length=140)),
                ('granted', registry.models.fields.DocumentField(default=dict)),
                ('granted_to', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
                ('removed_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='registry.team')),
                ('token', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='registry.token')),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.CharField(max_length=64)),
                ('digest', models.CharField(db_index=True, max_length=71)),
                ('reason', models.CharField(max_length=500)),
                ('purged_at', models.DateTimeField(auto_now_add=True)),
                ('purged_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tombstones', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='Trigger',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('event', 'Event'), ('intent', 'Intent'), ('phrase', 'Phrase'), ('name', 'Name')], max_length=8)),
                ('key', registry.models.fields.BytewiseCharField(max_length=200)),
                ('text', models.CharField(max_length=200)),
                ('scope', models.CharField(max_length=24)),
                ('recommendable_team', models.BigIntegerField(null=True)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='triggers', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='TriggerTest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('utterance', models.CharField(max_length=500)),
                ('must_match', models.BooleanField()),
                ('origin', models.CharField(choices=[('package', 'Package'), ('feedback', 'Feedback'), ('page', 'Added manually')], max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('accepted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trigger_tests', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='Use',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(max_length=64)),
                ('last_kind', models.CharField(choices=[('load', 'Loaded'), ('install', 'Installed'), ('run', 'Run')], max_length=8)),
                ('count', models.PositiveIntegerField(default=0)),
                ('last_counted_at', models.DateTimeField()),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='UseDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.CharField(blank=True, max_length=64)),
                ('kind', models.CharField(choices=[('load', 'Loaded'), ('install', 'Installed'), ('run', 'Run')], max_length=8)),
                ('day', models.DateField()),
                ('count', models.PositiveIntegerField(default=0)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='use_days', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='Version',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('number', models.CharField(max_length=64)),
                ('precedence', models.CharField(max_length=200)),
                ('number_as_written', models.CharField(blank=True, max_length=64)),
                ('digest', models.CharField(max_length=71)),
                ('archive_size', models.PositiveIntegerField()),
                ('profile', models.CharField(max_length=16)),
                ('manifest', registry.models.fields.DocumentField()),
                ('body', models.TextField()),
                ('problems', registry.models.fields.DocumentField(default=list)),
                ('changelog', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('yanked_at', models.DateTimeField(blank=True, null=True)),
                ('yank_reason', models.CharField(blank=True, max_length=500)),
                ('deprecated_at', models.DateTimeField(blank=True, null=True)),
                ('deprecation_reason', models.CharField(blank=True, max_length=500)),
                ('successor', models.CharField(blank=True, max_length=64)),
                ('requested_channel', models.CharField(blank=True, max_length=32)),
                ('provenance', registry.models.fields.DocumentField(default=dict)),
                ('scanned_with', models.CharField(blank=True, max_length=64)),
                ('held_at', models.DateTimeField(blank=True, null=True)),
                ('released_at', models.DateTimeField(blank=True, null=True)),
                ('release_reason', models.CharField(blank=True, max_length=500)),
                ('reported_at', models.DateTimeField(blank=True, null=True)),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='registry.skill')),
            ],
        ),
        migrations.CreateModel(
            name='TriggerTestResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('utterance', models.CharField(max_length=500)),
                ('must_match', models.BooleanField()),
                ('passed', models.BooleanField()),
                ('origin', models.CharField(choices=[('package', 'Package'), ('feedback', 'Feedback'), ('page', 'Added manually')], max_length=8)),
                ('line', models.PositiveIntegerField(null=True)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trigger_test_results', to='registry.version')),
            ],
        ),
        migrations.AddField(
            model_name='skill',
            name='latest',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='registry.version'),
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('reason', models.CharField(choices=[('malicious', 'Harmful'), ('broken', "Doesn't work"), ('rights', 'License or copyright violation'), ('spam', 'Spam'), ('other', 'Other')], max_length=9)),
                ('text', models.CharField(blank=True, max_length=1000)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by_reviewer', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('open', 'Open'), ('dismissed', 'Dismissed'), ('upheld', 'Upheld')], default='open', max_length=9)),
                ('decided_at', models.DateTimeField(null=True)),
                ('decision', models.CharField(blank=True, max_length=500)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='PinnedTrigger',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('event', 'Event'), ('intent', 'Intent'), ('phrase', 'Phrase'), ('name', 'Name')], max_length=8)),
                ('key', registry.models.fields.BytewiseCharField(max_length=200)),
                ('text', models.CharField(max_length=200)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pinned_triggers', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='PinnedPosting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('weight', models.SmallIntegerField()),
                ('field_mask', models.SmallIntegerField()),
                ('term', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='registry.term')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pinned_postings', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(max_length=64)),
                ('severity', models.CharField(max_length=8)),
                ('certain', models.BooleanField(default=False)),
                ('path', models.CharField(max_length=500)),
                ('line', models.PositiveIntegerField(null=True)),
                ('quote', models.CharField(max_length=160)),
                ('params', registry.models.fields.DocumentField(default=dict)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='File',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=500)),
                ('size', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=71)),
                ('is_text', models.BooleanField()),
                ('executable', models.BooleanField(default=False)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=32)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channels', to='registry.skill')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channels', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='Canonical',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, unique=True)),
                ('number', models.CharField(blank=True, max_length=64)),
                ('digest', models.CharField(blank=True, max_length=71)),
                ('tracked_channel', models.CharField(blank=True, max_length=32)),
                ('rejected_digest', models.CharField(blank=True, max_length=71)),
                ('set_at', models.DateTimeField(auto_now_add=True)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('name_key', models.CharField(blank=True, max_length=200)),
                ('for_agents', models.BooleanField(default=True)),
                ('indexed_as', models.PositiveSmallIntegerField(default=0)),
                ('skill', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='canonicals', to='registry.skill')),
                ('mirror', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='canonicals', to='registry.source')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='canonicals', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='VersionReview',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reviewed_at', models.DateTimeField()),
                ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='registry.team')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='registry.version')),
            ],
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('prefix', models.CharField(blank=True, max_length=100)),
                ('secret', models.TextField()),
                ('previous_secret', models.TextField(blank=True)),
                ('previous_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('rotated_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='registry.team')),
            ],
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('type', models.CharField(max_length=200)),
                ('payload', registry.models.fields.DocumentField()),
                ('origin', models.CharField(max_length=64)),
                ('external_id', models.CharField(max_length=200)),
                ('received_at', models.DateTimeField(db_index=True)),
                ('sender', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='registry.team')),
                ('webhook', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='events', to='registry.webhookendpoint')),
            ],
        ),
        migrations.CreateModel(
            name='ImportRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=1000)),
                ('outcome', models.CharField(choices=[('published', 'Published'), ('unchanged', 'Unchanged'), ('skipped', 'Skipped'), ('refused', 'Refused')], max_length=10)),
                ('skill', models.CharField(blank=True, max_length=130)),
                ('version', models.CharField(blank=True, max_length=64)),
                ('digest', models.CharField(blank=True, max_length=71)),
                ('problems', registry.models.fields.DocumentField(default=list)),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='registry.import')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('report', 'path'), name='one_row_per_path')],
            },
        ),
        migrations.CreateModel(
            name='SecretGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('digest', models.CharField(blank=True, max_length=71)),
                ('version_number', models.CharField(blank=True, max_length=64)),
                ('hosts', registry.models.fields.DocumentField(default=list)),
                ('granted_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('granted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('secret', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='registry.secret')),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='registry.skill')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at', None)), fields=('secret', 'skill', 'digest'), name='one_grant_per_secret_and_digest')],
            },
        ),
        migrations.CreateModel(
            name='ProposedTriggerTest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('utterance', models.CharField(max_length=500)),
                ('must_match', models.BooleanField()),
                ('state', models.CharField(choices=[('proposed', 'Proposed'), ('accepted', 'Accepted'), ('declined', 'Declined')], default='proposed', max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposed_tests', to='registry.skill')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('skill', 'utterance'), name='one_proposal_per_utterance')],
            },
        ),
        migrations.CreateModel(
            name='EventMatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version_number', models.CharField(max_length=64)),
                ('rank', models.PositiveSmallIntegerField()),
                ('outcome', models.CharField(choices=[('started', 'Started'), ('proposed', 'Proposed'), ('refused', 'Refused')], max_length=8)),
                ('run_uid', models.CharField(blank=True, max_length=26)),
                ('problems', registry.models.fields.DocumentField(default=list)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='registry.event')),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='registry.skill')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('event', 'skill'), name='one_match_per_skill')],
            },
        ),
        migrations.CreateModel(
            name='SkillPhrase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=registry.models.identity.new_uid, editable=False, max_length=26, unique=True)),
                ('text', models.CharField(max_length=200)),
                ('language', models.CharField(max_length=8)),
                ('state', models.CharField(choices=[('proposed', 'Proposed'), ('accepted', 'Accepted'), ('declined', 'Declined')], default='proposed', max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('accepted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phrases', to='registry.skill')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('skill', 'text'), name='one_phrase_per_skill')],
            },
        ),
        migrations.CreateModel(
            name='Suppression',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(max_length=64)),
                ('path', models.CharField(max_length=500)),
                ('quote', models.CharField(max_length=160)),
                ('digest', models.CharField(blank=True, max_length=71)),
                ('reason', models.CharField(max_length=500)),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='suppressions', to='registry.skill')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('skill', 'rule', 'path', 'quote'), name='one_suppression')],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.CharField(max_length=120)),
                ('scope', models.CharField(default='', max_length=24)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tag_rows', to='registry.skill')),
            ],
            options={
                'indexes': [models.Index(fields=['text', 'scope', 'skill'], name='tag_counted')],
                'constraints': [models.UniqueConstraint(fields=('text', 'skill'), name='one_tag_per_skill')],
            },
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('publisher', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscribers', to='registry.team')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='registry.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'publisher'), name='one_subscription_per_publisher'), models.CheckConstraint(condition=models.Q(('team', models.F('publisher')), _negated=True), name='no_self_subscription')],
            },
        ),
        migrations.AddConstraint(
            model_name='secret',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='one_secret_per_name'),
        ),
        migrations.AddConstraint(
            model_name='redirect',
            constraint=models.UniqueConstraint(fields=('team', 'slug'), name='one_redirect_per_slug'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='one_membership_per_team'),
        ),
        migrations.AddConstraint(
            model_name='eventsubscription',
            constraint=models.UniqueConstraint(fields=('team', 'skill', 'event_type'), name='one_mode_per_event_type'),
        ),
        migrations.AddIndex(
            model_name='posting',
            index=models.Index(fields=['term', '-weight', 'skill', 'scope', 'field_mask', 'recommendable_team'], name='posting_lookup'),
        ),
        migrations.AddConstraint(
            model_name='posting',
            constraint=models.UniqueConstraint(fields=('term', 'skill'), name='one_posting_per_term'),
        ),
        migrations.AddConstraint(
            model_name='misspelling',
            constraint=models.UniqueConstraint(fields=('text', 'term'), name='one_misspelling'),
        ),
        migrations.AddConstraint(
            model_name='termscope',
            constraint=models.UniqueConstraint(fields=('term', 'scope'), name='one_df_per_scope'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.CheckConstraint(condition=models.Q(('team', None), ('token', None), _connector='XOR'), name='rule_has_one_holder'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('team', 'effect', 'name'), name='one_rule_per_team_and_name'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('token', 'effect', 'name'), name='one_rule_per_token_and_name'),
        ),
        migrations.AddConstraint(
            model_name='tombstone',
            constraint=models.UniqueConstraint(fields=('skill', 'number'), name='one_tombstone'),
        ),
        migrations.AddConstraint(
            model_name='trigger',
            constraint=models.UniqueConstraint(fields=('key', 'kind', 'skill'), name='one_trigger'),
        ),
        migrations.AddConstraint(
            model_name='triggertest',
            constraint=models.UniqueConstraint(fields=('skill', 'utterance'), name='one_test_per_utterance'),
        ),
        migrations.AddConstraint(
            model_name='use',
            constraint=models.UniqueConstraint(fields=('skill', 'caller'), name='one_use_row_per_caller'),
        ),
        migrations.AddConstraint(
            model_name='useday',
            constraint=models.UniqueConstraint(fields=('skill', 'day', 'kind', 'version'), name='one_use_count_per_day'),
        ),
        migrations.AddIndex(
            model_name='version',
            index=models.Index(fields=['digest'], name='version_digest'),
        ),
        migrations.AddConstraint(
            model_name='version',
            constraint=models.UniqueConstraint(fields=('skill', 'number'), name='one_number_per_skill'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(fields=['slug'], name='skill_slug'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(fields=['-hot_key', 'id'], name='skill_hot'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(fields=['-usage_count', 'id'], name='skill_count'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('is_bundled', True)), fields=['id'], name='skill_bundled'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(fields=['team', 'type', 'category', 'domain', 'source', 'profile', 'search_scope', 'for_people'], name='skill_facets'),
        ),
        migrations.AddIndex(
            model_name='skill',
            index=models.Index(condition=models.Q(('for_people', False)), fields=['id'], name='skill_agents_only'),
        ),
        migrations.AddConstraint(
            model_name='skill',
            constraint=models.UniqueConstraint(fields=('team', 'slug'), name='one_slug_per_team'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['by', 'at'], name='report_by'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('version', 'by'), name='one_open_report_per_person'),
        ),
        migrations.AddConstraint(
            model_name='pinnedtrigger',
            constraint=models.UniqueConstraint(fields=('key', 'kind', 'version'), name='one_pinned_trigger'),
        ),
        migrations.AddConstraint(
            model_name='pinnedposting',
            constraint=models.UniqueConstraint(fields=('term', 'version'), name='one_pinned_posting'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.UniqueConstraint(fields=('version', 'path'), name='one_path_per_version'),
        ),
        migrations.AddConstraint(
            model_name='channel',
            constraint=models.UniqueConstraint(fields=('skill', 'name'), name='one_channel_per_name'),
        ),
        migrations.AddConstraint(
            model_name='versionreview',
            constraint=models.UniqueConstraint(fields=('version', 'team'), name='one_review_per_team'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['origin', 'received_at'], name='event_rate'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.UniqueConstraint(fields=('origin', 'external_id'), name='one_event_per_id'),
        ),
        migrations.RunPython(vacuum_early, migrations.RunPython.noop),
    ]
