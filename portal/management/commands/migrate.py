"""``manage.py migrate``: Django's command, with a one-line error for a database of another release."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

APPS = {"registry", "worker"}


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        loader = MigrationLoader(connections[options["database"]])
        unknown = sorted(
            f"{app}.{name}"
            for app, name in set(loader.applied_migrations) - set(loader.disk_migrations)
            if app in APPS & loader.migrated_apps
        )
        if unknown:
            raise CommandError(
                f"Another version of Skillquay created this database ({unknown[0]} is unknown). Recreate the "
                "database, or choose another one with SKILLQUAY_VAR or DATABASE_URL."
            )
        super().handle(*args, **options)
