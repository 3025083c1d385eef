"""The clock for leases: reads the database's clock, which all hosts share, and detects jumps."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from worker.core import sql


def now() -> datetime:
    """The current time of the database; with SQLite that of this machine."""
    return sql.database_time() if is_shared() else timezone.now()


def is_shared() -> bool:
    return connection.vendor == "postgresql"


def lease() -> timedelta:
    return timedelta(seconds=settings.SKILLQUAY_LEASE_SECONDS)


@dataclass
class ClockJumpDetector:
    """Detects that the clock has jumped, for example because the machine slept or its clock was set.

    After a jump, leases can seem expired although their workers are alive. Live workers renew their leases
    every third of the lease time, so the clock counts as unreliable for two thirds of it.
    """

    # The seconds by which the wall clock is ahead of the monotonic clock, which stops while the machine
    # sleeps.
    ahead: float | None = None
    unsure_until: float = 0.0

    def is_reliable(self, moment: datetime) -> bool:
        since = time.monotonic()
        before, self.ahead = self.ahead, moment.timestamp() - since
        third = lease().total_seconds() / 3
        if before is not None and abs(self.ahead - before) > third:
            self.unsure_until = since + 2 * third
        return since >= self.unsure_until
