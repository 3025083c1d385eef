"""Tables made from the models, as ``--no-migrations`` makes the suite's: a quarter of the work of migrating.

``python -m tests.tables`` makes those of the database that the environment names.
"""

from __future__ import annotations


class Unmigrated(dict[str, None]):
    """For ``MIGRATION_MODULES``: no app has migrations."""

    def __contains__(self, app: object) -> bool:
        return True

    def __missing__(self, app: str) -> None:
        return None


def record() -> None:
    """The tables that are there are those of the last migrations: whoever migrates has nothing to do."""
    from django.db import connection
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.recorder import MigrationRecorder
    from django.test import override_settings

    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    with override_settings(MIGRATION_MODULES={}):
        for app, name in MigrationLoader(None).disk_migrations:
            recorder.record_applied(app, name)


def main() -> None:
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.core.management import call_command
    from django.test import override_settings

    with override_settings(MIGRATION_MODULES=Unmigrated()):
        call_command("migrate", run_syncdb=True, verbosity=0)
    record()


if __name__ == "__main__":
    main()
