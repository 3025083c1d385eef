from datetime import datetime

from registry.core.sql import fetch_all


def database_time() -> datetime:
    """The current time of PostgreSQL; Django's ``Now`` is the start of the transaction."""
    moment: datetime = fetch_all("SELECT clock_timestamp()", ())[0][0]
    return moment
