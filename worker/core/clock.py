"""The clock for leases: the database's, which all hosts share; and detection of clock jumps."""

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

    All leases then seem expired, although live workers renew theirs within a third of the lease time.
    After a jump the clock counts as unreliable for two thirds of the lease time.
    """

    ahead: float | None = None  # seconds; the monotonic clock stops while the machine sleeps
    unsure_until: float = 0.0

    def is_reliable(self, moment: datetime) -> bool:
        since = time.monotonic()
        before, self.ahead = self.ahead, moment.timestamp() - since
        third = lease().total_seconds() / 3
        if before is not None and abs(self.ahead - before) > third:
            self.unsure_until = since + 2 * third
        return since >= self.unsure_until
