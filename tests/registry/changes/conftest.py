from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from registry.models import ChangeNumber, SiteNumber
from tests import cluster


def fire_triggers() -> None:
    """Runs the deferred triggers of PostgreSQL, which otherwise run at commit."""
    connection.check_constraints()


def _database():
    """What ``cluster.connected`` takes: a file or an address."""
    if connection.vendor == "sqlite":
        return Path(connection.settings_dict["NAME"])
    found = connection.settings_dict
    return f"postgres://{found['USER']}@{found['HOST']}:{found['PORT'] or 5432}/{found['NAME']}"


def connected():
    """A context manager with a connection of its own, for any thread."""
    return cluster.connected(_database())


@pytest.fixture
def raised():
    """``raised(action)``: the kinds and keys whose numbers the action raises; the site's number as "site"."""

    def run(action):
        fire_triggers()
        SiteNumber.objects.update(number=1_000_000)
        ChangeNumber.objects.update(number=0)
        if connection.vendor == "postgresql":  # which raises the site's number once in a transaction
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('skillquay.number', '', true)")
                cursor.execute("SELECT set_config('skillquay.noted', '', true)")
        action()
        fire_triggers()
        found = {
            (row.get_kind_display().lower(), row.key) for row in ChangeNumber.objects.filter(number__gt=0)
        }
        return found | ({"site"} if SiteNumber.objects.get().number > 1_000_000 else set())

    return run
