"""Formats times for responses."""

from datetime import UTC, datetime


def rfc3339(at: datetime | None) -> str | None:
    """The time as RFC 3339 in UTC with microseconds; None stays None."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z") if at else None
