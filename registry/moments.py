"""How a moment is told to programs."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z") if at else None
