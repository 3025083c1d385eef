from __future__ import annotations

import pytest
from django.db import connection

from registry.models import ChangeNumber, SiteNumber


def fire_triggers() -> None:
    """Runs the deferred triggers of PostgreSQL, which otherwise run at commit."""
    connection.check_constraints()


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
