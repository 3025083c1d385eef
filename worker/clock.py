"""The clock by which leases run: the database's, which all hosts share; and when not to believe it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone


def now() -> datetime:
    """SQLite's is this machine's."""
    if not is_shared():
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def is_shared() -> bool:
    return connection.vendor == "postgresql"


def lease() -> timedelta:
    return timedelta(seconds=settings.SKILLQUAY_LEASE_SECONDS)


@dataclass
class Watch:
    """Notices that time has jumped, as where a machine slept or its clock was set.

    All leases seem over then, and whoever lives renews them within a third of one: until then none is taken.
    """

    ahead: float | None = None  # of the time since this machine began, which stands still while it sleeps
    unsure_until: float = 0.0

    def may_be_believed(self, moment: datetime) -> bool:
        since = time.monotonic()
        before, self.ahead = self.ahead, moment.timestamp() - since
        third = lease().total_seconds() / 3
        if before is not None and abs(self.ahead - before) > third:
            self.unsure_until = since + 2 * third
        return since >= self.unsure_until
