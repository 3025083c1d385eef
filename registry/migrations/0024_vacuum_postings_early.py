from django.db import migrations

_EARLY = """
    ALTER TABLE registry_posting SET (
        autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.05
    )
"""
_AS_ELSEWHERE = """
    ALTER TABLE registry_posting RESET (
        autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor
    )
"""


def vacuum_early(apps, editor):
    """Search reads postings from an index alone, which PostgreSQL does only where it has vacuumed."""
    if editor.connection.vendor == "postgresql":
        editor.execute(_EARLY)


def vacuum_as_elsewhere(apps, editor):
    if editor.connection.vendor == "postgresql":
        editor.execute(_AS_ELSEWHERE)


class Migration(migrations.Migration):
    dependencies = [("registry", "0023_facets_for_people")]

    operations = [migrations.RunPython(vacuum_early, vacuum_as_elsewhere)]
